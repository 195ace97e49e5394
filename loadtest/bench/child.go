package bench

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
	"time"
)

const (
	startTime = 20 * time.Second      // at most, for a child to be ready
	pollEvery = 10 * time.Millisecond // between checks of whether it is
)

// A child is the process that is measured: a gateway or a relay.
type child struct {
	cmd     *exec.Cmd
	dir     string        // has its configuration and all its files
	exited  chan struct{} // closed when it is over
	address string        // where the load connects to
	admin   string        // "" for a relay
}

// startChild runs a command in a new directory. configure may write files there, and
// returns further arguments for the command.
func startChild(ctx context.Context, command []string, configure func(dir string) (args []string, err error)) (*child, error) {
	dir, err := os.MkdirTemp("", "pmg-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make directory: %w", err)
	}
	c := &child{dir: dir, exited: make(chan struct{})}
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

func (c *child) run(ctx context.Context, command []string) error {
	out, err := os.Create(c.logFile())
	if err != nil {
		return fmt.Errorf("cannot make log file: %w", err)
	}
	defer out.Close()
	c.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	c.cmd.Stdout, c.cmd.Stderr = out, out
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", command[0], err)
	}
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait() // it was killed, or its output has the reason
	}()
	return nil
}

func (c *child) logFile() string { return filepath.Join(c.dir, "out.log") }

// stop kills the child and removes its files.
func (c *child) stop() {
	_ = c.cmd.Process.Kill()
	<-c.exited
	os.RemoveAll(c.dir)
}

// await calls ready repeatedly until it returns true.
func (c *child) await(ctx context.Context, ready func() bool) error {
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

func (c *child) failed(err error) error {
	text, _ := os.ReadFile(c.logFile())
	text = bytes.TrimSpace(text[max(0, len(text)-maxOutput):])
	return fmt.Errorf("cannot bring up %s: %w: %s", filepath.Base(c.cmd.Path), err, text)
}

// startGateway starts a gateway and waits until it is ready for traffic.
func startGateway(ctx context.Context, command []string, g gatewayConfig) (*child, error) {
	c, err := startUnready(ctx, command, g)
	if err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// ready waits until the gateway has a session with its SMSC.
func (c *child) ready(ctx context.Context) error {
	return c.await(ctx, func() bool { _, err := c.get("/readyz"); return err == nil })
}

// startUnready starts a gateway and waits until it listens.
func startUnready(ctx context.Context, command []string, g gatewayConfig) (*child, error) {
	c, err := startChild(ctx, command, func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pmg.yaml")
		if err := os.WriteFile(file, g.yaml(dir), 0o600); err != nil {
			return nil, fmt.Errorf("cannot write configuration: %w", err)
		}
		return []string{file}, nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.await(ctx, c.findAddresses); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// findAddresses reads from the gateway's log the ports that it listens on.
func (c *child) findAddresses() bool {
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
			c.address = entry.Address
		case entry.Message == "admin listening":
			c.admin = "http://" + entry.Address
		}
	}
	return c.address != "" && c.admin != ""
}

// get asks the gateway's admin address.
func (c *child) get(path string) ([]byte, error) {
	client := http.Client{Timeout: startTime}
	resp, err := client.Get(c.admin + path)
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

// counters are the metrics of a gateway that have no labels.
type counters map[string]float64

func (c *child) counters() (counters, error) {
	b, err := c.get("/metrics")
	if err != nil {
		return nil, err
	}
	all := counters{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.Contains(name, "{") {
			all[name] = v
		}
	}
	return all, nil
}

// A status is the part of a gateway's status that the bench uses.
type status struct {
	Stages     []StageWork
	Connectors []connectorStatus
}

type connectorStatus struct {
	Name                   string
	Accepted, Sent, Queued int64
}

// connector returns the status of a connector by name, or zeros if there is none.
func (s *status) connector(name string) (c connectorStatus) {
	for _, c := range s.Connectors {
		if c.Name == name {
			return c
		}
	}
	return c
}

func (c *child) status() (s status, err error) {
	b, err := c.get("/admin/v1/status")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("cannot read status of gateway: %w", err)
	}
	return s, nil
}
