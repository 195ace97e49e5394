package peers

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

var binary = flag.String("pmg", "../../bin/pmg", "the gateway's program")

// The accounts "acme", which the library uses and which receives, and "bcme" of the test's own.
const config = `
log: {format: json}
pdulog: {dir: %[1]q, flush: 5ms}
store: {dir: %[2]q, ballast: 0B}
accounts: [{system_id: acme, password: s3cret}, {system_id: bcme, password: s3cret}]
connectors:
  - {name: clients, direction: in, address: %[3]q, window: 50, %[7]s}
  - {name: others, direction: in, address: %[4]q, window: 100}
  - {name: operator, direction: out, address: %[5]q, system_id: pmg, password: secret, reconnect_delay: 20ms, throttle_pause: 20ms,
     retry: {lost: [50ms, repeat], temporary: [50ms, repeat], throttled: [50ms, repeat]}, %[8]s}
  - {name: absent, direction: out, address: %[6]q, system_id: pmg, password: secret, reconnect_delay: 1h}
routes:
  - {from: operator, to: {account: acme}}
  - {destination: "4699", to: absent}
  - {to: operator}
`

// A gateway is the program under test, between a library and the test's own end.
type gateway struct {
	dir             string
	cmd             *exec.Cmd
	log             *testutil.Log
	clients, others string // addresses
	ended           chan error
}

// startGateway runs a gateway with an SMSC at an address until the end of the test. clients and
// operator are further options of these connectors.
func startGateway(t testing.TB, clients, smsc, operator string) *gateway {
	t.Helper()
	g := &gateway{
		dir: t.TempDir(), log: &testutil.Log{}, ended: make(chan error, 1),
		clients: testutil.FreeAddress(t), others: testutil.FreeAddress(t),
	}
	text := fmt.Sprintf(config, filepath.Join(g.dir, "pdulog"), filepath.Join(g.dir, "data"), g.clients, g.others, smsc, testutil.FreeAddress(t), clients, operator)
	file := filepath.Join(g.dir, "pmg.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.cmd = exec.Command(*binary, "serve", "-c", file)
	g.cmd.Stdout, g.cmd.Stderr = g.log, g.log
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { g.ended <- g.cmd.Wait() }()
	t.Cleanup(g.kill)
	within(t, "the gateway listens", func() bool {
		select {
		case err := <-g.ended:
			g.ended <- err
			t.Fatalf("the gateway has ended: %v\n%s", err, tail(g.log.String()))
		default:
		}
		conn, err := net.Dial("tcp", g.others)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return g
}

// kill ends the gateway.
func (g *gateway) kill() {
	if err := g.cmd.Process.Kill(); err == nil {
		g.ended <- <-g.ended
	}
}

// stop ends the gateway as an operator does, and returns how it ended.
func (g *gateway) stop(t testing.TB) error {
	t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-g.ended:
		g.ended <- err
		return err
	case <-time.After(patience):
		t.Fatal("the gateway does not stop")
		return nil
	}
}

// logged reports whether a line of a connector's pdu log has all of the words.
func (g *gateway) logged(connector string, words ...string) bool {
	files, _ := filepath.Glob(filepath.Join(g.dir, "pdulog", connector+"*"))
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for line := range strings.Lines(string(b)) {
			if has(line, words...) {
				return true
			}
		}
	}
	return false
}

// has reports whether a line has all of the words.
func has(line string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

// within waits until ok returns true.
func within(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
