// Package natstest runs servers of NATS for tests, as processes of their own on loopback.
//
// # Start reading
//
// natstest.go
package natstest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"pmg/internal/testkit/testutil"
)

// The server of the tests. It is not part of PMG.
const (
	module  = "github.com/nats-io/nats-server/v2"
	release = "v2.15.2"
)

// Program returns the path of nats-server. make test skips where it is not built; the other targets build it into bin.
func Program(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs(".")
	for err == nil && !exists(filepath.Join(root, "Makefile")) {
		if root == filepath.Dir(root) {
			t.Skip("nats-server is not built: the tests do not run in the source")
		}
		root = filepath.Dir(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "bin", "nats-server-"+release)
	path := filepath.Join(dir, "nats-server")
	if exists(path) {
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A Server is a NATS server. It ends with the test.
type Server struct {
	Name    string
	Address string // address for its clients

	t      testing.TB
	start  []string // the command, without its configuration
	config string
	cmd    *exec.Cmd
	log    *os.File
}

const accounts = `
accounts {
	SYS: { users: [ { user: system, password: system } ] }
	PMG: { jetstream: enabled, users: [ { user: pmg, password: pmg } ] }
}
system_account: SYS
`

// User returns the login of the account with the streams.
func User() []nats.Option { return []nats.Option{nats.UserInfo("pmg", "pmg")} }

// System returns the login of the system account.
func System() []nats.Option { return []nats.Option{nats.UserInfo("system", "system")} }

// New makes a server that does not run yet. more is appended to its configuration.
func New(t testing.TB, name, sync, more string) *Server {
	t.Helper()
	address := testutil.FreeAddress(t)
	return NewWithin(t, nil, name, address, func(dir string) string {
		return fmt.Sprintf("server_name: %s\nlisten: %q\n"+
			"jetstream { store_dir: %q, sync_interval: %s, max_mem: 512MB, max_file: 4GB }\n%s%s",
			name, address, dir, sync, accounts, more)
	})
}

// NewWithin makes a server with a configuration that depends on its directory. prefix is the beginning of its command, for
// example for a namespace.
func NewWithin(t testing.TB, prefix []string, name, address string, config func(dir string) string) *Server {
	t.Helper()
	dir := t.TempDir()
	s := &Server{
		t: t, Name: name, start: slices.Concat(prefix, []string{Program(t)}), Address: address,
		config: filepath.Join(dir, "nats.conf"),
	}
	if err := os.WriteFile(s.config, []byte(config(dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if b, err := os.ReadFile(s.log.Name()); err == nil && t.Failed() {
			t.Logf("log of %s:\n%s", name, b[max(0, len(b)-4000):])
		}
		_ = s.log.Close()
	})
	return s
}

// PID returns the number of the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Start starts the server, which may have been killed before.
func (s *Server) Start() *Server {
	s.t.Helper()
	command := append(s.start[:len(s.start):len(s.start)], "-c", s.config)
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.SysProcAttr = s.log, s.log, attributes()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// Signal sends a signal to the server.
func (s *Server) Signal(of syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(of); err != nil {
		s.t.Errorf("cannot send %v to %s: %v", of, s.Name, err)
	}
}

// Wait waits until the server has ended.
func (s *Server) Wait() {
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Kill ends the server, even if it is stopped.
func (s *Server) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Accepts waits until the server accepts connections.
func (s *Server) Accepts() {
	s.t.Helper()
	testutil.Eventually(s.t, "server "+s.Name+" accepts connections", func() bool {
		conn, err := net.DialTimeout("tcp", s.Address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// StartCluster starts three servers, the last of which has the sync option lastSync.
func StartCluster(t testing.TB, lastSync string) (all []*Server) {
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
		all = append(all, New(t, fmt.Sprintf("n%d", i+1), sync, more))
	}
	for _, s := range all {
		s.Start()
	}
	return all
}

// URLs returns the URLs of servers for clients.
func URLs(all ...*Server) string {
	var urls []string
	for _, s := range all {
		urls = append(urls, "nats://"+s.Address)
	}
	return strings.Join(urls, ",")
}
