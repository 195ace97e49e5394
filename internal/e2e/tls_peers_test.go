package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

// Kannel as a client that speaks TLS.
func TestTLSKannel(t *testing.T) {
	parallel(t)
	k, operator := newKeys(t), newSMSC(t)
	g := start(t, site{operator: operator, clients: k.listens(", min_version: 1.2"), routes: "{from: operator, to: clients}\n{to: operator}"})
	smsc := operator.session()
	kannel := startKannel(t, g.addr("clients"), "smpp", "transceiver-mode = true\nsystem-type = \"\"\nuse-ssl = 1")
	for n := range 20 {
		kannel.send(fmt.Sprintf("hello %02d", n))
	}
	for range 20 {
		smsc.answer(0, field(smsc.want("submit_sm", "source_addr=1234"), "seq"))
	}
	smsc.send(`deliver_sm seq=7 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="home"`)
	smsc.want("deliver_sm_resp", "seq=7", "status=0")
	testutil.Eventually(t, "Kannel has the answer of the mobile", func() bool { return len(kannel.saw("/mo")) == 1 })
}

// startStunnel runs stunnel with one service until the end of the test, or skips the test. It returns the address
// that it listens on.
func startStunnel(t *testing.T, options ...string) (address string) {
	t.Helper()
	program, err := exec.LookPath("stunnel")
	if err != nil {
		t.Skip("stunnel is not installed: apt-get install stunnel4")
	}
	address = testutil.FreeAddress(t)
	file, out := filepath.Join(t.TempDir(), "stunnel.conf"), new(logBuffer)
	text := "foreground = yes\npid =\n[one]\naccept = " + address + "\n" + strings.Join(options, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, file)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out)
		}
	})
	_, port, _ := net.SplitHostPort(address)
	testutil.Eventually(t, "stunnel listens", func() bool { return isOpen(port) })
	return address
}

// A plain client with stunnel in front, and a plain SMSC with stunnel in front.
func TestTLSStunnel(t *testing.T) {
	parallel(t)
	k, operator := newKeys(t), newSMSC(t)
	smsc := startStunnel(t, "connect = "+operator.addr(), "cert = "+k.file("server"), "key = "+k.file("server-key"))
	g := start(t, site{clients: k.listens(""), routes: "{to: smsc}", more: fmt.Sprintf(
		"{name: smsc, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, tls: {ca: %q, server_name: localhost}}", smsc, k.file("ca"))})
	c := dial(t, startStunnel(t, "client = yes", "connect = "+g.addr("clients"), "CAfile = "+k.file("ca"), "verifyChain = yes", "checkHost = localhost"))
	s := operator.session()
	c.bind("transceiver", "acme", "s3cret")
	const last = 100
	c.put(1, last)
	s.serve(1, last)
	c.send("unbind seq=900")
	c.want("unbind_resp", "seq=900", "status=0")
	c.wantEOF()
}

// An SMSC whose certificate is not good is sent no login, and the log says what is wrong with it.
func TestTLSStrangers(t *testing.T) {
	parallel(t)
	k, other := newKeys(t), newKeys(t)
	if err := k.authority.Issue(k.file("expired"), k.file("expired-key"), -time.Hour, "localhost", "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	k.issue("elsewhere", "elsewhere.example.net")
	for name, c := range map[string]struct{ file, options, says string }{
		"expired":           {k.file("expired"), "", "expired"},
		"another name":      {k.file("elsewhere"), "", "127.0.0.1"},
		"another authority": {other.file("server"), "", "unknown authority"},
		"another key":       {k.file("server"), ", pin: [\"" + strings.Repeat("A", 43) + "=\"]", "the peer's public key is "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operator := newSMSC(t)
			g := start(t, site{operator: operator, out: fmt.Sprintf("tls: {ca: %q%s}", k.file("ca"), c.options)})
			config, _, err := tlsfiles.Load(&tlsfiles.Options{Certificates: []string{c.file}, Keys: []string{strings.Replace(c.file, ".pem", "-key.pem", 1)}}, true)
			if err != nil {
				t.Fatal(err)
			}
			p := operator.accept().secure(config, true)
			if got, err := io.ReadAll(p.conn); len(got) > 0 || err == nil {
				t.Errorf("%d octets were sent to it, %v", len(got), err)
			}
			testutil.Eventually(t, "the log says why", func() bool { return g.log.count("TLS", c.says) > 0 })
		})
	}
}

// A client that asks for another handshake (renegotiation of TLS 1.2) is refused.
func TestTLSRenegotiation(t *testing.T) {
	parallel(t)
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens(", min_version: 1.2")})
	cmd := exec.Command("openssl", "s_client", "-tls1_2", "-CAfile", k.file("ca"), "-connect", g.addr("clients"))
	cmd.Stdin = strings.NewReader("R\n")
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "RENEGOTIATING") || !strings.Contains(string(out), "no renegotiation") && !strings.Contains(string(out), "alert") {
		t.Errorf("openssl says:\n%s", out)
	}
	testutil.Eventually(t, "the session is over", func() bool { return g.clients() == 0 })
}

// Records that nobody may send end a session, and what came before them counts.
func TestTLSBrokenRecords(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	g := start(t, site{operator: newSMSC(t), clients: k.listens(", min_version: 1.2")})
	long := make([]byte, 5+16<<10+2048+1)
	copy(long, []byte{23, 3, 3, byte((len(long) - 5) >> 8), byte(len(long) - 5)})
	const half = "half a record, and the end"
	for name, c := range map[string]struct {
		octets  []byte
		version uint16
	}{
		"a record that is too long":     {long, tls.VersionTLS13},
		"a record that nobody sealed":   {append([]byte{23, 3, 3, 0, 40}, make([]byte, 40)...), tls.VersionTLS13},
		"an alert that nobody sealed":   {[]byte{21, 3, 3, 0, 2, 2, 40}, tls.VersionTLS13},
		"a plain PDU":                   {wire(t, submitLine(3)), tls.VersionTLS13},
		"a handshake without its seal":  {[]byte{22, 3, 3, 0, 4, 1, 0, 0, 0}, tls.VersionTLS12},
		half:                            {[]byte{23, 3, 3, 0, 40, 1, 2, 3}, tls.VersionTLS12},
		"a record of an older protocol": {[]byte{23, 2, 0, 0, 2, 1, 2}, tls.VersionTLS12},
	} {
		raw := g.dial("clients").conn
		config := k.config(false)
		config.MinVersion, config.MaxVersion = c.version, c.version
		p := &peer{t: t, conn: tls.Client(raw, config)}
		p.bind("transceiver", "acme", "s3cret")
		before := g.stats("clients").Accepted.Load()
		p.submit(2, 2)
		p.accepted(2, 2)
		if _, err := raw.Write(c.octets); err != nil {
			t.Fatal(err)
		}
		if name == half {
			_ = raw.(*net.TCPConn).CloseWrite()
		}
		_ = raw.SetReadDeadline(time.Now().Add(testutil.Patience))
		if _, err := io.Copy(io.Discard, raw); isTimeout(err) {
			t.Fatalf("%s: the session goes on", name)
		}
		testutil.Eventually(t, name+": the session is over", func() bool { return g.clients() == 0 })
		if n := g.stats("clients").Accepted.Load() - before; n != 1 {
			t.Errorf("%s: %d messages were accepted", name, n)
		}
	}
}
