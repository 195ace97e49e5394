// Package process runs pmg serve as a process of its own, for tests that kill it, limit it, or measure it.
//
// # Start reading
//
// Program (what is run), Serve, then Process.
package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pmg/admin"
	"pmg/internal/testkit/testutil"
)

// A Program is the path of pmg, and its environment.
type Program struct {
	Path string
	Env  []string
}

// Build builds pmg from the project in a directory, with the race detector if the test has it.
func Build(root, path string, flags ...string) (Program, error) {
	p := Program{Path: path}
	args := append([]string{"build", "-ldflags=-s -w", "-o", p.Path}, flags...) // the last of several equal flags counts
	if testutil.Race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/pmg")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("cannot build pmg: %w: %s", err, out)
	}
	return p, nil
}

// ProgramKey is the environment variable with the path of a program that was built before, for a test that runs itself again.
const ProgramKey = "PMG_TEST_PROGRAM"

// A Built is pmg, built once for all tests of a package, by the first test that needs it.
type Built struct {
	root, dir string
	once      sync.Once
	program   Program
	err       error
}

// NewBuilt returns pmg of the project in a directory.
func NewBuilt(root string) *Built {
	b := &Built{}
	b.root, b.err = filepath.Abs(root) // tests may change the working directory
	return b
}

// Main is a TestMain: it runs the tests, and removes the program.
func (b *Built) Main(m *testing.M) {
	code := m.Run()
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
	os.Exit(code)
}

// Program returns pmg.
func (b *Built) Program(t testing.TB) Program {
	t.Helper()
	b.once.Do(func() {
		if b.program.Path = os.Getenv(ProgramKey); b.program.Path != "" || b.err != nil {
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "pmg-built-"); b.err == nil {
			b.program, b.err = Build(b.root, filepath.Join(b.dir, "pmg"))
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.program
}

// Serve starts pmg serve with a configuration. The process is killed at the end of the test if it still runs then.
func (p Program) Serve(t testing.TB, config string) *Process {
	t.Helper()
	return p.Start(t, exec.Command(p.Path, "serve", "-c", config))
}

// ServeLimited starts pmg serve with a limit of file descriptors.
func (p Program) ServeLimited(t testing.TB, descriptors int, config string) *Process {
	t.Helper()
	return p.Start(t, exec.Command("/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, descriptors), "sh", p.Path, "serve", "-c", config))
}

// Start starts a command that executes pmg serve.
func (p Program) Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	s := &Process{Cmd: cmd, Began: time.Now(), Ended: make(chan struct{}), t: t, events: map[string]Event{}}
	cmd.Env = append(cmd.Environ(), p.Env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.Ended)
		for in := bufio.NewScanner(out); in.Scan(); {
			s.read(in.Text())
		}
	}()
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", cmd.Process.Pid, strings.Join(s.log[max(0, len(s.log)-30):], "\n"))
		}
	})
	return s
}

// Run runs a command of pmg, and returns its output. An error has pmg's text.
func (p Program) Run(args ...string) (string, error) {
	cmd := exec.Command(p.Path, args...)
	cmd.Env = append(cmd.Environ(), p.Env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s (%w)", strings.TrimPrefix(strings.TrimSpace(said.String()), "pmg: "), err)
	}
	return string(out), err
}

// A Process is a running pmg serve.
type Process struct {
	Cmd   *exec.Cmd
	Began time.Time
	Ended chan struct{} // closed when nothing writes to the log any more

	t      testing.TB
	mu     sync.Mutex
	log    []string
	events map[string]Event // by the message of the line
}

// An Event is a line of a process's log, with the fields that tests read.
type Event struct {
	Level, Message, Connector, Address string
	Messages                           int
	After                              time.Duration `json:"-"` // time since the start of the process
}

func (p *Process) read(line string) {
	e := Event{After: time.Since(p.Began)}
	_ = json.Unmarshal([]byte(line), &e) // a line that is not JSON is only shown
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
	p.events[e.Message] = e
}

// Log returns the lines of the log.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// Logged returns the last line of the log with a message.
func (p *Process) Logged(message string) (Event, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.events[message]
	return e, ok
}

// Listens returns the address at which a connector listens.
func (p *Process) Listens(connector string) (address string) {
	p.t.Helper()
	testutil.Eventually(p.t, "connector "+connector+" listens", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, line := range p.log {
			var e Event
			if json.Unmarshal([]byte(line), &e) == nil && e.Message == "listening" && e.Connector == connector {
				address = e.Address
			}
		}
		return address != ""
	})
	return address
}

// Wait waits for a line of the log.
func (p *Process) Wait(message string) Event {
	p.t.Helper()
	var e Event
	testutil.Eventually(p.t, "the process logs "+message, func() bool {
		select {
		case <-p.Ended:
			if _, ok := p.Logged(message); !ok {
				p.t.Fatal("the process has ended")
			}
		default:
		}
		var ok bool
		e, ok = p.Logged(message)
		return ok
	})
	return e
}

// Ask requests v from the process, at its admin address.
func (p *Process) Ask(path string, v any) {
	p.t.Helper()
	resp, err := http.Get("http://" + p.Wait("admin listening").Address + admin.Base + "/" + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		p.t.Fatal(err)
	}
}

// A Status is the state of a process's connector "operator".
type Status struct {
	Recovered              bool
	Queued, InFlight, Sent int64
}

// Status returns the numbers of the process's messages.
func (p *Process) Status() Status {
	p.t.Helper()
	var s admin.Status
	p.Ask("status", &s)
	for _, c := range s.Connectors {
		if c.Name == "operator" {
			return Status{Recovered: !s.Recovering, Queued: c.Queued, InFlight: c.InFlight, Sent: c.Sent}
		}
	}
	p.t.Fatal("there is no operator")
	return Status{}
}

// Settle waits until no message waits.
func (p *Process) Settle() {
	p.t.Helper()
	testutil.Eventually(p.t, "nothing waits", func() bool {
		s := p.Status()
		return s.Recovered && s.Queued+s.InFlight == 0
	})
}

// Kill ends the process as kill -9 does.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended
	<-p.Ended
	_ = p.Cmd.Wait()
}

// Stop ends the process with SIGTERM, and returns its exit status.
func (p *Process) Stop() int {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	<-p.Ended
	_ = p.Cmd.Wait()
	return p.Cmd.ProcessState.ExitCode()
}

// Problems returns the lines of the log at level error, except those about a slow disk, which a busy machine has now and then.
func (p *Process) Problems() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.log {
		isError := strings.Contains(line, `"level":"error"`) && !strings.Contains(line, "the store does not answer")
		if isError || !strings.HasPrefix(line, "{") {
			lines = append(lines, line)
		}
	}
	return lines
}

// WriteConfig writes a configuration, and returns its path.
func WriteConfig(t testing.TB, yaml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// NewStoreDir returns a directory for a store.
func NewStoreDir(t testing.TB) string { return filepath.Join(t.TempDir(), "store") }
