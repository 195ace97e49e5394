package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testutil"
	"pmg/journal"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// The server of the tests. It is not part of PMG.
const (
	module  = "github.com/nats-io/nats-server/v2"
	release = "v2.15.2"
)

var installing sync.Mutex

// program returns the path of nats-server. make test skips where it is not built; the other targets build it into bin.
func program(t testing.TB) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	dir, err := filepath.Abs(filepath.Join("../../bin", "nats-server-"+release))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "nats-server")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if testing.Short() {
		t.Skip("nats-server is not built: make test-all does that")
	}
	install := exec.Command("go", "install", module+"@"+release)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("cannot build nats-server: %v: %s", err, out)
	}
	return path
}

// A node is a server of NATS, as a process of its own on loopback. It ends with the test.
type node struct {
	t       testing.TB
	name    string
	program string
	address string
	config  string
	cmd     *exec.Cmd
	log     *os.File
}

const accounts = `
accounts {
	SYS: { users: [ { user: system, password: system } ] }
	PMG: { jetstream: enabled, users: [ { user: pmg, password: pmg } ] }
}
system_account: SYS
`

// newNode makes a server that does not run yet. more is a part of its configuration.
func newNode(t testing.TB, name, sync, more string) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{t: t, name: name, program: program(t), address: testutil.FreeAddress(t), config: filepath.Join(dir, "nats.conf")}
	text := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream { store_dir: %q, sync_interval: %s, max_mem: 512MB, max_file: 4GB }\n%s%s",
		name, n.address, dir, sync, accounts, more)
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if n.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.kill()
		if b, err := os.ReadFile(n.log.Name()); err == nil && t.Failed() {
			t.Logf("log of %s:\n%s", name, b[max(0, len(b)-4000):])
		}
		_ = n.log.Close()
	})
	return n
}

func (n *node) start() *node {
	n.t.Helper()
	n.cmd = exec.Command(n.program, "-c", n.config)
	n.cmd.Stdout, n.cmd.Stderr, n.cmd.SysProcAttr = n.log, n.log, attributes()
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	return n
}

func (n *node) signal(s syscall.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Errorf("cannot send %v to %s: %v", s, n.name, err)
	}
}

// kill ends a server, also one that stands still.
func (n *node) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
		n.cmd = nil
	}
}

// startCluster starts three servers, the last of which syncs as is said.
func startCluster(t testing.TB, lastSync string) (all []*node) {
	t.Helper()
	var routes []string
	for range 3 {
		routes = append(routes, testutil.FreeAddress(t))
	}
	for i, listen := range routes {
		sync := "always"
		if i == len(routes)-1 {
			sync = lastSync
		}
		more := fmt.Sprintf("cluster { name: c, listen: %q, routes: [\"nats://%s\"] }\n", listen, strings.Join(routes, `", "nats://`))
		all = append(all, newNode(t, fmt.Sprintf("n%d", i+1), sync, more))
	}
	for _, n := range all {
		n.start()
	}
	return all
}

// options are those for a stream on these servers.
func options(stream string, all ...*node) Options {
	var urls []string
	for _, n := range all {
		urls = append(urls, "nats://"+n.address)
	}
	return Options{
		Servers: strings.Join(urls, ","), Stream: stream, Connect: []nats.Option{nats.UserInfo("pmg", "pmg")},
		System: []nats.Option{nats.UserInfo("system", "system")},
	}
}

// alone are options for one server, which is never safe. An acknowledgement is waited for as long as a slow disk takes, so that each
// record is there once.
func alone(stream string, n *node) Options {
	o := options(stream, n)
	o.Unsafe, o.Replicas, o.waits = true, 1, &waits{testutil.Patience, testutil.Patience, testutil.Patience}
	return o
}

// hasty are those of alone, but that a record is repeated as early as it is in use.
func hasty(stream string, n *node) Options {
	o := alone(stream, n)
	o.waits.first = usualWaits().first
	return o
}

// opened opens a journal that is closed with the test.
func opened(t testing.TB, o Options) *Journal {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil && !errors.Is(err, journal.ErrClosed) {
			t.Error(err)
		}
	})
	return j
}

// admin returns JetStream for what no journal does.
func admin(t testing.TB, n *node) jetstream.JetStream {
	t.Helper()
	o := alone("", n)
	for {
		conn, err := net.Dial("tcp", n.address)
		if err == nil {
			_ = conn.Close()
			break
		}
		time.Sleep(restWait)
	}
	conn, err := connect(o.Servers, o.Connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(testutil.Patience))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// eventually waits for something that must happen.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen: " + what)
		}
	}
}
