package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// Kannel as a client that speaks TLS.
func TestTLSKannel(t *testing.T) {
	parallel(t)
	k, operator := newKeys(t), newSMSC(t)
	g := start(t, site{operator: operator, clients: k.listens(", min_version: 1.2"), routes: "{from: operator, to: clients}\n{to: operator}"})
	centre := operator.session()
	kannel := startKannel(t, g, "smpp", "transceiver-mode = true\nsystem-type = \"\"\nuse-ssl = 1")
	for n := range 20 {
		kannel.send(fmt.Sprintf("hello %02d", n))
	}
	for range 20 {
		centre.answer(0, field(centre.want("submit_sm", "source_addr=1234"), "seq"))
	}
	centre.send(`deliver_sm seq=7 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="home"`)
	centre.want("deliver_sm_resp", "seq=7", "status=0")
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
	centre := startStunnel(t, "connect = "+operator.addr(), "cert = "+k.file("server"), "key = "+k.file("server-key"))
	g := start(t, site{clients: k.listens(""), routes: "{to: centre}", more: fmt.Sprintf(
		"{name: centre, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, tls: {ca: %q, server_name: localhost}}", centre, k.file("ca"))})
	c := dial(t, startStunnel(t, "client = yes", "connect = "+g.addr("clients"), "CAfile = "+k.file("ca"), "verifyChain = yes", "checkHost = localhost"))
	s := operator.session()
	c.bind("transceiver", "acme", "s3cret")
	const last = 100
	c.submit(1, last)
	c.accepted(1, last)
	s.serve(1, last)
	c.send("unbind seq=900")
	c.want("unbind_resp", "seq=900", "status=0")
	c.wantEOF()
}
