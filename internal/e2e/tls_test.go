package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

// keys are an authority and the files of certificates that it has issued, for localhost.
type keys struct {
	t         testing.TB
	dir       string
	authority *tlsfiles.Authority
}

func newKeys(t testing.TB) *keys {
	t.Helper()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	k := &keys{t, t.TempDir(), a}
	if err := a.Write(k.file("ca")); err != nil {
		t.Fatal(err)
	}
	k.issue("server", "localhost", "127.0.0.1")
	k.issue("client", "acme")
	return k
}

func (k *keys) file(name string) string { return filepath.Join(k.dir, name+".pem") }

// issue writes a certificate and its key, in the place of those of before.
func (k *keys) issue(name string, names ...string) {
	k.t.Helper()
	_ = os.Remove(k.file(name))
	_ = os.Remove(k.file(name + "-key"))
	if err := k.authority.Issue(k.file(name), k.file(name+"-key"), time.Hour, names...); err != nil {
		k.t.Fatal(err)
	}
}

// listens returns the options of a connector that listens.
func (k *keys) listens(more string) string {
	return fmt.Sprintf("tls: {certificate: %q, key: %q%s}", k.file("server"), k.file("server-key"), more)
}

// config returns the configuration of the other side: of a server, or of a client that shows a certificate.
func (k *keys) config(server bool) *tls.Config {
	k.t.Helper()
	o := tlsfiles.Options{Authorities: k.file("ca"), ServerName: "localhost", Certificates: []string{k.file("client")}, Keys: []string{k.file("client-key")}}
	if server {
		o = tlsfiles.Options{Certificates: []string{k.file("server")}, Keys: []string{k.file("server-key")}}
	}
	c, _, err := tlsfiles.Load(&o, server)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

// secure makes a peer speak TLS from now on.
func (p *peer) secure(c *tls.Config, server bool) *peer {
	p.t.Helper()
	if server {
		p.conn = tls.Server(p.conn, c)
	} else {
		p.conn = tls.Client(p.conn, c)
	}
	return p
}

// Messages, answers and receipts pass TLS on both sides, in both protocols, and sessions end in order.
func TestTLS(t *testing.T) {
	for _, version := range []string{"1.2", "1.3"} {
		t.Run(version, func(t *testing.T) {
			parallel(t)
			k, operator := newKeys(t), newSMSC(t)
			g := start(t, site{
				operator: operator, clients: "window: 200, " + k.listens(", min_version: 1.2"),
				out: fmt.Sprintf("window: 200, tls: {ca: %q, server_name: localhost, min_version: 1.2}", k.file("ca")),
			})
			own := k.config(true)
			if version == "1.2" {
				own.MaxVersion = tls.VersionTLS12
			}
			smsc := operator.accept().secure(own, true)
			line := smsc.want("bind_transceiver")
			smsc.send("bind_transceiver_resp seq=" + field(line, "seq") + " status=0 system_id=SMSC")
			c := g.dial("clients").secure(k.config(false), false)
			c.bind("transceiver", "acme", "s3cret")
			const last = 100
			c.put(1, last, "registered_delivery=1")
			smsc.serve(1, last)
			smsc.send("deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 esm_class=0x04 short_message=\"id:SMSC-5 stat:DELIVRD err:000\"")
			smsc.want("deliver_sm_resp", "seq=7", "status=0")
			c.send("unbind seq=900")
			c.want("unbind_resp", "seq=900", "status=0")
			c.wantEOF() // with a close_notify before it; without one it is an error
		})
	}
}

// A recorder notes what is written.
type recorder struct {
	net.Conn
	wrote []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = append(r.wrote, b...)
	return r.Conn.Write(b)
}

// A client without the certificate that is required gets no session; one with it does. What comes behind the end
// of a session that was cut off, or was not whole, is not accepted.
func TestTLSRequired(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens(fmt.Sprintf(", client_ca: %q, require_client: true", k.file("ca")))})
	without := k.config(false)
	without.Certificates = nil
	c := g.dial("clients").secure(without, false)
	c.writeQuietly(wire(t, bindLine("transceiver", "acme", "s3cret")))
	if _, err := io.Copy(io.Discard, c.conn); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("a client without a certificate: %v", err)
	}
	testutil.Eventually(t, "the log says so", func() bool { return g.log.count("client didn't provide a certificate") > 0 })

	recorded := &recorder{Conn: g.dial("clients").conn}
	p := &peer{t: t, conn: tls.Client(recorded, k.config(false))}
	p.bind("transceiver", "acme", "s3cret")
	whole := len(recorded.wrote)
	p.put(1, 1)
	if len(recorded.wrote) <= whole {
		t.Error("nothing was written")
	}
	recorded.Conn.Close() // without close_notify
	testutil.Eventually(t, "the session is over", func() bool { return g.clients() == 0 })
	equal(t, "messages accepted", g.stats("clients").Accepted.Load(), 1)
}

// A certificate that is replaced is in force for new sessions after a reload, and the others go on.
func TestTLSRenewed(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	s := site{operator: newSMSC(t), clients: k.listens("")}
	g := start(t, s)
	before := g.dial("clients").secure(k.config(false), false)
	before.bind("transceiver", "acme", "s3cret")
	serial := func(p *peer) string {
		return p.conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	k.issue("server", "localhost", "127.0.0.1")
	g.mustReload(s)
	after := g.dial("clients").secure(k.config(false), false)
	after.bind("transceiver", "acme", "s3cret")
	if serial(before) == serial(after) {
		t.Error("the old certificate is still shown")
	}
	before.exchange()
}

// openssl s_client as the client.
func TestTLSOpenSSL(t *testing.T) {
	parallel(t)
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens("")})
	cmd := exec.Command("openssl", "s_client", "-quiet", "-verify_return_error", "-verify_hostname", "localhost", "-CAfile", k.file("ca"), "-connect", g.addr("clients"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_, _ = stdin.Write(wire(t, bindLine("transceiver", "acme", "s3cret"), submitLine(2), "unbind seq=3"))
	got, _ := io.ReadAll(bufio.NewReader(stdout)) // until the gateway ends the session
	_ = cmd.Wait()
	if n := g.stats("clients").Accepted.Load(); n != 1 || len(got) < 48 {
		t.Errorf("%d messages accepted, %d octets answered", n, len(got))
	}
}

// Handshakes of SMPP and of HTTPS take turns with each other.
func TestTLSTurns(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{
		operator: newSMSC(t), clients: k.listens(""),
		more: fmt.Sprintf(`{name: api, direction: in, protocol: http, address: "127.0.0.1:0", %s}`, k.listens("")),
	})
	turns := g.Node.Handshakes
	most := max(runtime.GOMAXPROCS(0)/2, 1)
	for range most {
		turns.Take(netip.Prefix{}, nil)
	}
	done := make(chan error)
	for _, connector := range []string{"clients", "api"} {
		c := tls.Client(g.dial(connector).conn, k.config(false))
		go func() { done <- c.Handshake() }()
	}
	testutil.Eventually(t, "both wait", func() bool { return turns.Waiting() == 2 })
	for range most {
		turns.Give()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// UCP passes TLS as SMPP does.
func TestTLSUCP(t *testing.T) {
	parallel(t)
	k, operator := newKeys(t), newSMSC(t)
	g := start(t, site{
		operator: operator, clients: "protocol: ucp, window: 99, " + k.listens(", pin: "+strings.Repeat("A", 43)+"="), // which has no effect
		out: fmt.Sprintf("protocol: ucp, window: 99, tls: {ca: %q}", k.file("ca")),
	})
	smsc := operator.accept().secure(k.config(true), true)
	s := &ucpPeer{t: t, conn: smsc.conn}
	s.want("op60 seq=0 OAdC=pmg OTON=6 ONPI=5 STYP=1 PWD=*** VERS=0100")
	c := &ucpPeer{t: t, conn: tls.Client(g.dial("clients").conn, k.config(false))}
	c.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	c.want("op60_result seq=0 status=0")
}

// A session that is idle needs no goroutine, and a thousand of them need as many as one.
func TestTLSGoroutines(t *testing.T) {
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens(""), limits: "prebind_per_address: 1000"})
	bound := func() {
		c := g.dial("clients").secure(k.config(false), false)
		c.bind("transceiver", "acme", "s3cret")
	}
	bound()
	c := g.dial("clients").secure(k.config(false), false)
	c.bind("transceiver", "acme", "s3cret")
	before := runtime.NumGoroutine()
	for range 200 {
		bound()
	}
	testutil.Eventually(t, "no goroutine is left of the handshakes", func() bool { return runtime.NumGoroutine() <= before })
}

// A peer without TLS where there should be TLS, or the other way round, is named in the log.
func TestTLSMistaken(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens(""), more: `{name: plain, direction: in, address: "127.0.0.1:0"}`})
	c := g.dial("clients")
	c.send(bindLine("transceiver", "acme", "s3cret"))
	_, _ = io.Copy(io.Discard, c.conn)
	testutil.Eventually(t, "the log says so", func() bool { return g.log.count("the peer does not speak TLS") > 0 })
	p := g.dial("plain")
	if err := tls.Client(p.conn, k.config(false)).Handshake(); err == nil {
		t.Error("a handshake with a plain connector succeeds")
	}
	testutil.Eventually(t, "the log says so", func() bool { return g.log.count("it looks like TLS") > 0 })
}

// A handshake that stops after each octet ends with bind_timeout, and holds up nobody.
func TestTLSStops(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{
		operator: newSMSC(t), clients: "bind_timeout: 200ms, " + k.listens(""),
		more: fmt.Sprintf(`{name: patient, direction: in, address: "127.0.0.1:0", %s}`, k.listens("")),
	})
	recorded := &recorder{}
	conn := g.dial("patient").conn
	own := k.config(false)
	recorded.Conn = conn
	if err := tls.Client(recorded, own).Handshake(); err != nil {
		t.Fatal(err)
	}
	var stopped []*peer
	for n := 0; n < len(recorded.wrote); n += 29 {
		p := g.dial("clients")
		p.write(recorded.wrote[:n])
		stopped = append(stopped, p)
	}
	for n, p := range stopped {
		_ = p.conn.SetReadDeadline(time.Now().Add(testutil.Patience))
		if _, err := io.Copy(io.Discard, p.conn); isTimeout(err) {
			t.Fatalf("a handshake that stops after %d octets is not ended", n*29)
		}
	}
	c := g.dial("patient").secure(own, false)
	c.bind("transceiver", "acme", "s3cret")
}
