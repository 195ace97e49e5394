package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
)

// Headers of version 1 and 2 that name the client 198.51.100.7.
const (
	header1 = "PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\r\n"
	header2 = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc6\x33\x64\x07\x7f\x00\x00\x01\x9c\x40\x0a\xd7"
	named   = "198.51.100.7"
)

// remotes returns where the sessions of "clients" come from.
func (g *gw) remotes() (all []string) {
	g.Gateway.Table.Connector("clients").Links(func(l *connector.Link) { all = append(all, l.Remote.Addr().String()) })
	return all
}

// The address in the header is that of the client: for its account's networks, in the log and of its session.
// Header and login may come in one segment.
func TestProxy(t *testing.T) {
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), clients: "proxies: 127.0.0.1",
		accounts: "{system_id: near, password: s3cret, networks: 198.51.100.0/24}\n{system_id: far, password: s3cret, networks: 127.0.0.0/8}",
	})
	for _, header := range []string{header1, header2} {
		c := g.dial("clients")
		c.write([]byte(header + string(wire(t, bindLine("transceiver", "near", "s3cret")))))
		c.want("bind_transceiver_resp", "status=0")
		if got := g.remotes(); !slices.Equal(got, []string{named}) {
			t.Errorf("sessions of %v", got)
		}
		c.send("unbind seq=2")
		c.want("unbind_resp", "status=0")
		c.wantEOF()
		testutil.Eventually(t, "the session is over", func() bool { return g.clients() == 0 })
	}
	if n := g.log.count("session over", `"remote":"`+named+":40000"); n != 2 {
		t.Errorf("the log has %d sessions of the client:\n%s", n, g.log.tail(20))
	}
	c := g.dial("clients")
	c.write([]byte(header2 + string(wire(t, bindLine("transceiver", "far", "s3cret")))))
	c.want("bind_transceiver_resp", "status=0xd(ESME_RBINDFAIL)") // the proxy's address is in its networks
	own := g.dialFrom("127.0.0.9", "clients")                     // no proxy
	own.bind("transceiver", "far", "s3cret")
}

// A client that guesses behind a proxy is delayed by its own address, and the others behind it are not.
func TestProxyGuesses(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), clients: "proxies: 127.0.0.1", accounts: otherAccount})
	for range 3 {
		c := g.dial("clients")
		c.write([]byte(header1))
		c.send(bindLine("transmitter", "acme", "wrong"))
		c.conn.Close()
	}
	c := g.dial("clients")
	c.write([]byte("PROXY TCP6 2001:db8::1 ::1 1 2\r\n"))
	c.bind("transmitter", "other", "s3cret")
	if got := g.remotes(); !slices.Contains(got, "2001:db8::1") {
		t.Errorf("sessions of %v", got)
	}
	testutil.Eventually(t, "the log has the address", func() bool { return g.log.count("login refused", named) > 0 })
	if n := g.log.count("login refused", "127.0.0.1"); n > 0 {
		t.Errorf("%d refused logins of the proxy", n)
	}
}

// UCP behind a proxy, and the header of version 1 before a handshake of TLS.
func TestProxyUCP(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: "protocol: ucp, proxies: 127.0.0.1, " + k.listens("")})
	conn := g.dial("clients").conn
	if _, err := conn.Write([]byte(header1)); err != nil {
		t.Fatal(err)
	}
	c := &ucpPeer{t: t, conn: tls.Client(conn, k.config(false))}
	c.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	c.want("op60_result seq=0 status=0")
	if got := g.remotes(); !slices.Equal(got, []string{named}) {
		t.Errorf("sessions of %v", got)
	}
}

// A header from an address that is not in proxies is taken for a PDU, and the log says what it is, once for
// many. So does it for connections of proxies that begin otherwise.
func TestProxyStray(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{
		operator: newSMSC(t), clients: "proxies: 192.0.2.1",
		more: `{name: ucp, direction: in, protocol: ucp, address: "127.0.0.1:0"}` + "\n" +
			`{name: tls, direction: in, address: "127.0.0.1:0", ` + k.listens("") + "}\n" +
			`{name: behind, direction: in, address: "127.0.0.1:0", proxies: 127.0.0.0/8}`,
	})
	for range 20 {
		for _, name := range []string{"clients", "tls"} {
			for _, header := range []string{header1, header2} {
				c := g.dial(name)
				c.write([]byte(header + "PDU"))
				_, _ = io.Copy(io.Discard, c.conn)
			}
		}
		c := g.dial("behind")
		c.write(wire(t, bindLine("transceiver", "acme", "s3cret")))
		c.wantClosed()
	}
	p := &ucpPeer{t: t, conn: g.dial("ucp").conn}
	p.write([]byte(header1))
	p.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	p.want("op60_result seq=0 status=0")
	for _, name := range []string{"clients", "tls", "ucp"} {
		testutil.Eventually(t, "the log says so", func() bool {
			return g.log.count(`"level":"warn"`, `"connector":"`+name, "not in proxies") > 0
		})
	}
	if g.log.count(`"connector":"behind"`, "its PROXY header cannot be read", "it is missing") == 0 {
		t.Error("the log does not tell of connections without a header")
	}
	if g.stats("behind").Headers.Load() == 0 || g.stats("clients").Headers.Load() == 0 {
		t.Error("refused headers are not counted")
	}
	if n := g.log.count("PROXY"); n > 12 {
		t.Errorf("%d lines about headers", n)
	}
}

// A reload changes who is a proxy, for new connections.
func TestProxyReload(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), clients: "proxies: 127.0.0.1"}
	g := start(t, s)
	waiting, before := g.dial("clients"), g.dial("clients")
	before.write([]byte(header2))
	before.bind("transceiver", "acme", "s3cret")
	waiting.write([]byte(header2[:5]))
	s.clients = ""
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	after := g.dial("clients")
	after.bind("transceiver", "acme", "s3cret")
	before.exchange()
	waiting.write([]byte(header2[5:]))
	waiting.bind("transceiver", "acme", "s3cret")
	got := g.remotes()
	slices.Sort(got)
	if !slices.Equal(got, []string{"127.0.0.1", named, named}) {
		t.Errorf("sessions of %v", got)
	}
}

// An SMSC may connect through a proxy as well, and its address is in networks. A check of the proxy, whose
// address is not, is closed without a line in the log.
func TestProxyNetworks(t *testing.T) {
	parallel(t)
	g := start(t, smscConnects("networks: 198.51.100.0/24, proxies: 127.0.0.1"))
	for _, header := range []string{"PROXY UNKNOWN\r\n", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"} {
		c := g.dial("operator")
		c.write([]byte(header))
		c.wantClosed()
	}
	if n := g.log.count("127.0.0.1"); n > 0 {
		t.Errorf("%d lines about checks of the proxy", n)
	}
	c := g.dial("operator")
	c.write([]byte("PROXY TCP4 203.0.113.1 127.0.0.1 40000 2775\r\n"))
	c.wantClosed()
	testutil.Eventually(t, "the log says so", func() bool { return g.log.count("203.0.113.1:40000", "is not in networks") == 1 })
	c = g.dial("operator")
	c.write([]byte(header1))
	c.send("outbind seq=1 system_id=smsc password=s3cret")
	c.want("bind_transceiver", "seq=1", "system_id=pmg")
	c.send("bind_transceiver_resp seq=1 status=0 system_id=SMSC")
	g.online("operator", 1)
}

// haproxy runs HAProxy with the configuration of docs/operate.md before a connector. It returns where it listens.
func (g *gw) haproxy(connector, version string) (addr string) {
	g.t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		g.t.Skip("haproxy is not installed")
	}
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		g.t.Fatal(err)
	}
	_, config, _ := strings.Cut(string(page), "```haproxy\n")
	config, _, _ = strings.Cut(config, "```")
	addr = testutil.FreeAddress(g.t)
	for _, change := range [][2]string{
		{"bind :2775", "bind " + addr}, {"127.0.0.1:2776", g.addr(connector)}, {"send-proxy-v2 check", version + " check inter 20ms"},
	} {
		if !strings.Contains(config, change[0]) {
			g.t.Fatalf("docs/operate.md has no %q for HAProxy", change[0])
		}
		config = strings.Replace(config, change[0], change[1], 1)
	}
	file := filepath.Join(g.t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		g.t.Fatal(err)
	}
	var log testutil.Log
	cmd := exec.Command(program, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if g.t.Failed() {
			g.t.Log(log.String())
		}
	})
	testutil.Eventually(g.t, "HAProxy listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return addr
}

// A client of UCP has its own address as well behind HAProxy.
func TestProxyHAProxyUCP(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), clients: "protocol: ucp, proxies: 127.0.0.1"})
	p := &ucpPeer{t: t, conn: dialFrom(t, stranger, g.haproxy("clients", "send-proxy-v2")).conn}
	p.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	p.want("op60_result seq=0 status=0")
	p.send("op51 seq=1 AdC=46700000001 OAdC=1234 MT=3 AMsg=\"hello\"")
	p.want("op51_result seq=1 status=0 SM=*")
	if !slices.Contains(g.remotes(), stranger) {
		t.Errorf("sessions of %v", g.remotes())
	}
}

// HAProxy in front, with both versions, with and without TLS: the session has the client's address, and the checks
// of HAProxy leave nothing in the log.
func TestProxyHAProxy(t *testing.T) {
	for _, version := range []string{"send-proxy", "send-proxy-v2"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", version, encrypted), func(t *testing.T) {
				parallel(t)
				options, k := "proxies: 127.0.0.1", newKeys(t)
				if encrypted {
					options += ", " + k.listens("")
				}
				g := start(t, site{operator: newSMSC(t), clients: options})
				addr := g.haproxy("clients", version)
				checks := g.stats("clients").Opened.Load() + 5
				testutil.Eventually(t, "HAProxy has checked", func() bool { return g.stats("clients").Opened.Load() > checks })
				c := dialFrom(t, stranger, addr)
				if encrypted {
					c = c.secure(k.config(false), false)
				}
				c.bind("transceiver", "acme", "s3cret")
				c.submit(1, 3)
				c.accepted(1, 3)
				if !slices.Contains(g.remotes(), stranger) {
					t.Errorf("sessions of %v", g.remotes())
				}
				c.send("unbind seq=900")
				c.want("unbind_resp", "seq=900", "status=0")
				testutil.Eventually(t, "the log has the client", func() bool { return g.log.count("session over", `"remote":"`+stranger) > 0 })
				for line := range strings.Lines(g.log.String()) {
					if containsAll(line, []string{`"connector":"clients"`, `"remote":"127.0.0.1`}) && !strings.Contains(line, `"level":"debug"`) {
						t.Errorf("a check is in the log: %s", line)
					}
				}
			})
		}
	}
}
