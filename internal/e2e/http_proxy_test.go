package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// apiBehind is the connector api behind proxies at 127.0.0.1, with further options.
func apiBehind(more string) string {
	return strings.Replace(withAPI, "}", ", proxies: 127.0.0.1, "+more+"}", 1)
}

// get asks for a message that nobody knows, on a connection that lasts, and logs in as an account. It returns the status of the
// answer, which is 404 for a client that may log in, or 0 if there is none.
func (p *peer) get(account string) int {
	p.t.Helper()
	r, err := http.NewRequest("GET", "http://api/v1/messages/17", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.SetBasicAuth(account, "s3cret")
	if r.Write(p.conn) != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(p.conn), r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// The address in the header is that of the client: for its account's networks, for delays after wrong passwords, in the log and
// the pdu log. The header may come octet by octet, and with the request behind it. Those who are no proxies are
// served as themselves, and their headers are no requests.
func TestHTTPProxy(t *testing.T) {
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), more: apiBehind(""),
		accounts: "{system_id: near, password: s3cret, networks: 198.51.100.0/24}\n{system_id: far, password: s3cret, networks: 127.0.0.0/8}",
	})
	var own []string // addresses of this test: others may look for a server of another test that had this port
	dialFrom := func(source string) *peer {
		p := g.dialFrom(source, "api")
		own = append(own, p.conn.LocalAddr().String())
		return p
	}
	f := func(header, account string, status int, remote string) {
		t.Helper()
		p := dialFrom("127.0.0.1")
		p.write([]byte(header))
		for range 2 {
			if got := p.get(account); got != status {
				t.Errorf("%.30q, %s: %d, want %d", header, account, got, status)
			}
		}
		if status == 404 {
			g.wantLog("api", `path="/v1/messages/17"`, "account="+account, remote)
		}
	}
	const local = "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	f(header1, "near", 404, named+":40000")
	f(header2, "near", 404, named+":40000")
	f("PROXY TCP6 2001:db8::1 ::1 40000 2775\r\n", "acme", 404, "[2001:db8::1]:40000")
	f("PROXY UNKNOWN\r\n", "far", 404, "127.0.0.1:")
	f(local, "far", 404, "127.0.0.1:")
	f("PROXY TCP4 203.0.113.9 127.0.0.1 40000 2775\r\n", "far", 401, "")
	testutil.Eventually(t, "the log has the address", func() bool { return g.log.count("login refused", "203.0.113.9") > 0 })

	slow := dialFrom("127.0.0.1")
	for i := range len(header2) {
		slow.write([]byte(header2[i : i+1]))
	}
	if got := slow.get("near"); got != 404 {
		t.Errorf("octet by octet: %d", got)
	}
	near := dialFrom("127.0.0.9")
	if got := near.get("far"); got != 404 {
		t.Errorf("no proxy: %d", got)
	}
	for _, header := range []string{header1, header2} {
		stray := dialFrom("127.0.0.9")
		stray.write([]byte(header))
		if got := stray.get("far"); got != 400 {
			t.Errorf("a header of a stranger: %d", got)
		}
	}
	for _, address := range own {
		if g.log.count("PROXY header", address) != 0 {
			t.Errorf("the header of %s is refused", address)
		}
	}
}

// A connection of a proxy without a header, with half a one, or with one that is not whole in time, is closed, counted
// and in the log. Checks of the proxy are closed, too, and not in the log.
func TestHTTPProxyNoHeader(t *testing.T) {
	parallel(t)
	patient := apiBehind("bind_timeout: 10m, networks: 198.51.100.0/24")
	hasty := strings.NewReplacer("name: api", "name: hasty", "10m", "200ms").Replace(patient)
	g := start(t, site{operator: newSMSC(t), more: patient + "\n" + hasty})
	refused := map[string]int64{}
	f := func(connector, octets string, counted, stops bool) {
		t.Helper()
		p := g.dial(connector)
		p.write([]byte(octets))
		if stops {
			_ = p.conn.(*net.TCPConn).CloseWrite()
		}
		if b, _ := io.ReadAll(p.conn); len(b) > 0 {
			t.Errorf("%q is answered %q", octets, b)
		}
		if counted {
			refused[connector]++
			testutil.Eventually(t, "the header is counted", func() bool { return g.stats(connector).Headers.Load() == refused[connector] })
		}
	}
	f("api", "", false, true)
	f("api", header1[:20], true, true)
	f("api", header2[:20], true, true)
	f("api", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", true, false)
	f("api", "PROXY TCP4 198.51.100.7 127.0.0.1 99999 2775\r\n", true, false)
	f("api", "PROXY UNKNOWN "+strings.Repeat("x", 200), true, false)
	f("api", "PROXY UNKNOWN\r\n", false, true)
	f("api", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", false, true)
	f("api", "PROXY UNKNOWN\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", false, false) // it is not in networks
	f("hasty", header2[:20], true, false)
	f("hasty", "", true, false)
	testutil.Eventually(t, "the log says why", func() bool {
		return g.log.count(`"connector":"api"`, "its PROXY header cannot be read", "it ends after 20 octets") == 1 &&
			g.log.count(`"connector":"hasty"`, "octets of it have come in 200ms") == 1
	})
	if n := g.log.count("PROXY"); n > 10 {
		t.Errorf("%d lines about headers", n)
	}
	p := g.dial("api")
	p.write([]byte("PROXY TCP4 203.0.113.1 127.0.0.1 40000 2775\r\n"))
	if got := p.get("acme"); got != 0 {
		t.Errorf("a client that networks does not have: %d", got)
	}
	testutil.Eventually(t, "the log says so", func() bool { return g.log.count("203.0.113.1:40000", "is not in networks") == 1 })
	p = g.dial("api")
	p.write([]byte(header1))
	if got := p.get("acme"); got != 404 {
		t.Errorf("a client of networks: %d", got)
	}
}

// Proxies whose connections send nothing have as many as may be open without a login, and as there are instances.
// The others are answered that they may come again. Nothing is left of them when they end, nor when the gateway stops.
func TestHTTPProxySilent(t *testing.T) {
	for _, bound := range []string{"instances", "prebind"} {
		t.Run(bound, func(t *testing.T) {
			parallel(t)
			s := site{operator: newSMSC(t), more: apiBehind("bind_timeout: 10m")}
			if bound == "instances" {
				s.more = apiBehind("bind_timeout: 10m, instances: 20")
			} else {
				s.limits = "prebind: 40, prebind_per_address: 40" // requests have half of them
			}
			g := start(t, s)
			silent := func(n int) (open []net.Conn) {
				for len(open) < n {
					c, err := net.Dial("tcp", g.addr("api"))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					open = append(open, c)
				}
				return open
			}
			all := silent(1000)
			for _, c := range all[20:] {
				if b, _ := io.ReadAll(c); !bytes.HasPrefix(b, []byte("HTTP/1.1 503")) {
					t.Fatalf("%q", b)
				}
				c.Close()
			}
			for _, c := range all[:20] {
				c.Close()
			}
			testutil.Eventually(t, "there is room again", func() bool {
				p := g.dial("api")
				defer p.conn.Close()
				p.write([]byte(header1))
				return p.get("acme") == 404
			})
			silent(10)
		})
	}
}

// The header is below TLS, and no octet of TLS is read with it.
func TestHTTPProxyTLS(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), more: apiBehind(k.listens(""))})
	for _, header := range []string{header1, header2} {
		p := g.dial("api")
		p.conn = tls.Client(&leading{Conn: p.conn, first: header}, k.config(false))
		if got := p.get("acme"); got != 404 {
			t.Errorf("%q: %d", header, got)
		}
		g.wantLog("api", `path="/v1/messages/17"`, "remote="+named+":40000")
	}
	p := g.dial("api")
	p.conn = tls.Client(p.conn, k.config(false))
	if got := p.get("acme"); got != 0 {
		t.Errorf("TLS without a header: %d", got)
	}
	p = g.dial("api")
	p.write([]byte("PROXY UNKNOWN\r\n"))
	_ = p.conn.Close()
	testutil.Eventually(t, "the header is counted", func() bool { return g.stats("api").Headers.Load() == 1 })
	g.stop()
	if n := g.log.count("TLS handshake error"); n > 0 {
		t.Errorf("the log has the check of a proxy:\n%s", g.log.tail(10))
	}
}

// A leading connection sends its first octets with those that are written first, in one segment.
type leading struct {
	net.Conn
	first string
}

func (c *leading) Write(b []byte) (int, error) {
	first := c.first
	c.first = ""
	n, err := c.Conn.Write(append([]byte(first), b...))
	return n - len(first), err
}

// HAProxy in front, with both versions, with and without TLS: the requests have the client's address, and the checks of
// HAProxy leave nothing in the log.
func TestHTTPProxyHAProxy(t *testing.T) {
	for _, version := range []string{"send-proxy", "send-proxy-v2"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", version, encrypted), func(t *testing.T) {
				parallel(t)
				k := newKeys(t)
				options := ""
				if encrypted {
					options = k.listens("")
				}
				g := start(t, site{operator: newSMSC(t), more: apiBehind(options), accounts: "{system_id: near, password: s3cret, networks: " + stranger + "}"})
				p := dialFrom(t, stranger, g.haproxy("api", version))
				if encrypted {
					p.conn = tls.Client(p.conn, k.config(false))
				}
				for range 3 {
					if got := p.get("near"); got != 404 {
						t.Fatalf("%d", got)
					}
				}
				g.wantLog("api", "account=near", "remote="+stranger+":")
				if b, _ := os.ReadFile(filepath.Join(g.dir, "api.log")); bytes.Contains(b, []byte(`remote=127.0.0.1:`)) {
					t.Errorf("requests of the proxy:\n%s", b)
				}
				if n := g.log.count(`"connector":"api"`, "127.0.0.1:"); n > 0 || g.stats("api").Headers.Load() > 0 {
					t.Errorf("the log has the proxy:\n%s", g.log.tail(20))
				}
			})
		}
	}
}

// Behind a proxy nothing that follows a chunked body is a request: the proxy may have read a length instead.
func TestHTTPProxyChunked(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: apiBehind("")})
	c, err := net.Dial("tcp", g.addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const request = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\nContent-Type: application/json\r\n"
	fmt.Fprintf(c, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n%sContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n%sContent-Length: 2\r\n\r\n{}", request, request)
	b, _ := io.ReadAll(c)
	if n := bytes.Count(b, []byte("HTTP/1.1 ")); n != 1 || !bytes.HasPrefix(b, []byte("HTTP/1.1 422")) {
		t.Errorf("%d answers: %s", n, b)
	}
}
