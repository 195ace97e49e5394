package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"pmg/internal/testkit/process"
	"strings"
	"syscall"
	"testing"
)

// The service manager hears when the gateway is ready, reloads and stops, and that it works.
func TestServiceManager(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "pmg.yaml"), filepath.Join(dir, "notify")
	config := fmt.Sprintf("log: {format: json}\npdulog: {enabled: false}\nstore: {dir: %q, ballast: 0B}\n"+
		"connectors: [{name: operator, direction: out, address: \"127.0.0.1:1\", system_id: a, static: false}]\nroutes: [{to: operator}]\n", process.NewStoreDir(t))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// hear returns the next message other than others, which may come at any time.
	hear := func(others string) string {
		for b := make([]byte, 4096); ; {
			n, err := c.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			if said, _, _ := strings.Cut(string(b[:n]), "\n"); said != others {
				return said
			}
		}
	}
	cmd := exec.Command(os.Args[0], "serve", "-c", file)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=100000")
	p := self().Start(t, cmd)
	expect := func(want string) {
		t.Helper()
		if said := hear("WATCHDOG=1"); said != want {
			t.Errorf("heard %q, want %s", said, want)
		}
	}
	expect("READY=1")
	if said := hear(""); said != "WATCHDOG=1" {
		t.Errorf("heard %q, want WATCHDOG=1", said)
	}
	if err := p.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	expect("RELOADING=1")
	expect("READY=1")
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	expect("STOPPING=1")
	<-p.Ended
	if err := p.Cmd.Wait(); err != nil {
		t.Error(err)
	}
}
