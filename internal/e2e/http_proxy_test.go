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

	"pmg/internal/testkit/testutil"
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
