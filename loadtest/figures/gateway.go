package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A gateway is a running pmg serve.
type gateway struct {
	cmd  *exec.Cmd
	dir  string
	addr string // of the connector "clients"

	mu    sync.Mutex
	lines int // of its log
}

// setting is the part of a configuration that differs between figures.
type setting struct {
	limits   string // options
	load     string // further options of the account "load"
	accounts string // rows
	clients  string // further options of the connector "clients"
	operator string // further options of the connector "operator"
	smsc     string // address that the connector "operator" connects to
}

func (s setting) yaml(dir, architecture string) string {
	return fmt.Sprintf(`architecture: %s
store: {engine: memory}
log: {level: info, format: json}
pdulog: {dir: %q}
limits: {%s}
accounts:
  - {system_id: load, password: secret, %s}
%s
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", %s}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret, %s}
routes:
  - {to: operator}
`, architecture, filepath.Join(dir, "pdulog"), s.limits, s.load, s.accounts, s.clients, s.smsc, s.operator)
}

// start runs a gateway until stop is called.
func (b *bench) start(s setting) (*gateway, error) {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		return nil, err
	}
	g := &gateway{dir: dir}
	file := filepath.Join(dir, "pmg.yaml")
	if err := os.WriteFile(file, []byte(s.yaml(dir, b.architecture)), 0o600); err != nil {
		return nil, err
	}
	g.cmd = exec.Command(b.pmg, "serve", "-c", file)
	g.cmd.Stderr = os.Stderr
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	addr := make(chan string, 1)
	go g.read(out, addr)
	select {
	case g.addr = <-addr:
	case <-time.After(20 * time.Second):
	}
	if g.addr == "" {
		g.kill()
		return nil, errors.New("the gateway's log has no address of connector clients")
	}
	return g, nil
}

// read follows the gateway's log to its end.
func (g *gateway) read(out io.Reader, addr chan<- string) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			close(addr)
			_, _ = io.Copy(io.Discard, in)
			return
		}
		g.mu.Lock()
		g.lines++
		g.mu.Unlock()
		var l struct{ Connector, Message, Address string }
		if bytes.Contains(line, []byte("listening")) && json.Unmarshal(line, &l) == nil && l.Connector == "clients" && l.Address != "" {
			addr <- l.Address
		}
	}
}

// logged returns how many lines the gateway's log has.
func (g *gateway) logged() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lines
}

// kill ends the gateway without a drain, and removes its files.
func (g *gateway) kill() {
	_ = g.cmd.Process.Signal(syscall.SIGKILL)
	_ = g.cmd.Wait()
	_ = os.RemoveAll(g.dir)
}

// memory returns the gateway's resident memory now and at its peak, in octets.
func (g *gateway) memory() (now, most int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	return field(b, "VmRSS:") << 10, field(b, "VmHWM:") << 10
}

// written returns how many octets the gateway has written to files and sockets.
func (g *gateway) written() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", g.cmd.Process.Pid))
	return field(b, "wchar:")
}

// pdulog returns the size and the number of the files of pdu logs.
func (g *gateway) pdulog() (octets int64, files int) {
	_ = filepath.Walk(filepath.Join(g.dir, "pdulog"), func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			octets += info.Size()
			files++
		}
		return nil
	})
	return octets, files
}

// field returns the number after name at the beginning of a line.
func field(status []byte, name string) (n int64) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			_, _ = fmt.Sscan(string(rest), &n)
		}
	}
	return n
}
