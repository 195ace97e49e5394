package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// nodeCommand runs a script of the directory node, or skips the test.
func nodeCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/smpp"); err != nil {
		t.Skip("the npm package smpp is not installed: (cd internal/e2e/node && npm ci)")
	}
	cmd := exec.Command("node", args...)
	cmd.Dir = "node"
	cmd.Stderr = os.Stderr
	return cmd
}

// The npm package smpp as client and as SMSC.
func TestNode(t *testing.T) {
	parallel(t)
	nodeRelays(t, site{}, "", "smpp://")
}

// The same over TLS on both sides (ssmpp).
func TestNodeTLS(t *testing.T) {
	parallel(t)
	k := newKeys(t)
	nodeRelays(t, site{clients: k.listens(", min_version: 1.2")}, fmt.Sprintf(", tls: {ca: %q}", k.file("ca")), "ssmpp://", k.file("server-key"), k.file("server"))
}

// nodeRelays has messages pass from a client of the package through a gateway to an SMSC of it, and back.
func nodeRelays(t *testing.T, s site, secure, scheme string, files ...string) {
	t.Helper()
	server := nodeCommand(t, append([]string{"server.js"}, files...)...)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // it has already ended, unless the test failed
	out := bufio.NewReader(stdout)
	port, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.more = fmt.Sprintf("{name: operator, direction: out, address: \"127.0.0.1:%s\", system_id: pmg, password: secret, instances: 2%s}", strings.TrimSpace(port), secure)
	s.routes = "{from: operator, to: clients}\n{to: operator}"
	g := start(t, s)
	g.online("operator", 2)
	saw, err := nodeCommand(t, "client.js", scheme+g.addr("clients"), "200").Output()
	if want := `{"answered":200,"ids":200,"delivered":200,"unbound":true}`; err != nil || strings.TrimSpace(string(saw)) != want {
		t.Errorf("client: %v, got %s, want %s", err, saw, want)
	}
	g.stop()
	stdin.Close()
	rest, err := io.ReadAll(out)
	if err != nil || strings.TrimSpace(string(rest)) != "200" {
		t.Errorf("server: %v, got %q", err, rest)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
