// Package child runs a gateway, or what it is compared with, as a process of its own, and asks it what it counts.
//
// # Start reading
//
// Start, StartGateway, then Child.
package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startTime = 20 * time.Second      // at most, for a child to be ready
	pollEvery = 10 * time.Millisecond // between checks of whether it is
)

// A Child is the process: a gateway or a relay.
type Child struct {
	Cmd     *exec.Cmd
	Dir     string // has its configuration and all its files
	Address string // where the load connects to
	Admin   string // "" for a relay

	exited chan struct{} // closed when it is over
}

// Start runs a command in a new directory. configure may write files there, and
// returns further arguments for the command.
func Start(ctx context.Context, command []string, configure func(dir string) (args []string, err error)) (*Child, error) {
	dir, err := os.MkdirTemp("", "pmg-child-")
	if err != nil {
		return nil, fmt.Errorf("cannot make directory: %w", err)
	}
	c := &Child{Dir: dir, exited: make(chan struct{})}
	args, err := configure(dir)
	if err == nil {
		err = c.run(ctx, append(command[:len(command):len(command)], args...))
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

func (c *Child) run(ctx context.Context, command []string) error {
	out, err := os.Create(c.logFile())
	if err != nil {
		return fmt.Errorf("cannot make log file: %w", err)
	}
	defer out.Close()
	c.Cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	c.Cmd.Stdout, c.Cmd.Stderr, c.Cmd.SysProcAttr = out, out, attributes()
	if err := c.Cmd.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", command[0], err)
	}
	go func() {
		defer close(c.exited)
		_ = c.Cmd.Wait() // it was killed, or its output has the reason
	}()
	return nil
}

func (c *Child) logFile() string { return filepath.Join(c.Dir, "out.log") }

// Stop kills the child and removes its files.
func (c *Child) Stop() {
	_ = c.Cmd.Process.Kill()
	<-c.exited
	os.RemoveAll(c.Dir)
}

// Ended is closed when the child has ended.
func (c *Child) Ended() <-chan struct{} { return c.exited }

// Await calls ready repeatedly until it returns true.
func (c *Child) Await(ctx context.Context, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !ready() {
		select {
		case <-c.exited:
			return c.failed(errors.New("it ended"))
		case <-ctx.Done():
			return c.failed(ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

const maxOutput = 500 // bytes at the end of a child's output that an error contains

func (c *Child) failed(err error) error {
	text, _ := os.ReadFile(c.logFile())
	text = bytes.TrimSpace(text[max(0, len(text)-maxOutput):])
	return fmt.Errorf("cannot bring up %s: %w: %s", filepath.Base(c.Cmd.Path), err, text)
}

// StartGateway starts a gateway with a configuration, which gets a directory for its files, and waits until it listens.
func StartGateway(ctx context.Context, command []string, yaml func(dir string) []byte) (*Child, error) {
	c, err := Start(ctx, command, func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pmg.yaml")
		if err := os.WriteFile(file, yaml(dir), 0o600); err != nil {
			return nil, fmt.Errorf("cannot write configuration: %w", err)
		}
		return []string{file}, nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.Await(ctx, c.findAddresses); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Ready waits until the gateway has a session with its SMSC.
func (c *Child) Ready(ctx context.Context) error {
	return c.Await(ctx, func() bool { _, err := c.Get("/readyz"); return err == nil })
}

// findAddresses reads from the gateway's log the ports that it listens on.
func (c *Child) findAddresses() bool {
	file, err := os.Open(c.logFile())
	if err != nil {
		return false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var entry struct{ Message, Connector, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) != nil {
			continue
		}
		switch {
		case entry.Message == "listening" && entry.Connector == "clients":
			c.Address = entry.Address
		case entry.Message == "admin listening":
			c.Admin = "http://" + entry.Address
		}
	}
	return c.Address != "" && c.Admin != ""
}

// Get asks the gateway's admin address.
func (c *Child) Get(path string) ([]byte, error) {
	client := http.Client{Timeout: startTime}
	resp, err := client.Get(c.Admin + path)
	if err != nil {
		return nil, fmt.Errorf("cannot ask gateway: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s of gateway: %w", path, err)
	}
	return b, nil
}

// Counters are the metrics of a gateway that have no labels.
type Counters map[string]float64

// Counters asks for them.
func (c *Child) Counters() (Counters, error) {
	b, err := c.Get("/metrics")
	if err != nil {
		return nil, err
	}
	all := Counters{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.Contains(name, "{") {
			all[name] = v
		}
	}
	return all, nil
}

// Status asks for a gateway's status, of which into has the wanted fields.
func (c *Child) Status(into any) error {
	b, err := c.Get("/admin/v1/status")
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("cannot read status of gateway: %w", err)
	}
	return nil
}

// End ends a gateway with SIGTERM, and waits.
func (c *Child) End(ctx context.Context) error {
	if err := c.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot end gateway: %w", err)
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
		return fmt.Errorf("the gateway does not end: %w", ctx.Err())
	}
	if code := c.Cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the gateway ends with exit status %d", code)
	}
	return nil
}

// Log returns what it has written.
func (c *Child) Log() string {
	b, _ := os.ReadFile(c.logFile()) // it is shown beside another error
	return string(b)
}
