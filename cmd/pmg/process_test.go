package main

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
	"pmg/internal/testutil"
)

// processKey is the environment variable that makes this test's binary run as pmg.
const processKey = "PMG_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(processKey) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is a pmg serve in a process of its own, which runs this test's binary.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	began time.Time
	ended chan struct{} // closed when nothing writes to the log any more

	mu     sync.Mutex
	log    []string
	events map[string]event // by the message of the line
}

// An event is a line of a process's log that tests look at.
type event struct {
	Level, Message, Connector, Address string
	Messages                           int
	after                              time.Duration // since the start of the process
}

// startProcess starts pmg serve with a configuration. The process is killed at the end of the
// test if it still runs then.
func startProcess(t *testing.T, config string) *process {
	t.Helper()
	return startCommand(t, exec.Command(os.Args[0], "serve", "-c", config))
}

// startLimited is startProcess for a process that may have so many file descriptors.
func startLimited(t *testing.T, descriptors int, config string) *process {
	t.Helper()
	return startCommand(t, exec.Command("/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, descriptors), "sh", os.Args[0], "serve", "-c", config))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, began: time.Now(), ended: make(chan struct{}), events: map[string]event{}}
	p.cmd.Env = append(p.cmd.Environ(), processKey+"=1")
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.read(in.Text())
		}
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", p.cmd.Process.Pid, strings.Join(p.log[max(0, len(p.log)-30):], "\n"))
		}
	})
	return p
}

func (p *process) read(line string) {
	e := event{after: time.Since(p.began)}
	_ = json.Unmarshal([]byte(line), &e) // a line that is not JSON is only shown
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
	p.events[e.Message] = e
}

// logged returns the last line of the log with that message.
func (p *process) logged(message string) (event, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.events[message]
	return e, ok
}

// wait waits for a line of the log.
func (p *process) wait(message string) event {
	p.t.Helper()
	var e event
	testutil.Eventually(p.t, "the process logs "+message, func() bool {
		select {
		case <-p.ended:
			if _, ok := p.logged(message); !ok {
				p.t.Fatal("the process has ended")
			}
		default:
		}
		var ok bool
		e, ok = p.logged(message)
		return ok
	})
	return e
}

// An outStatus is what a process says of its connector "operator".
type outStatus struct {
	Recovered              bool
	Queued, InFlight, Sent int64
}

// status asks the process, at its admin address, for what becomes of its messages.
func (p *process) status() outStatus {
	p.t.Helper()
	e := p.wait("admin listening")
	resp, err := http.Get("http://" + e.Address + "/admin/v1/status")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var s admin.Status
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		p.t.Fatal(err)
	}
	for _, c := range s.Connectors {
		if c.Name == "operator" {
			return outStatus{Recovered: !s.Recovering, Queued: c.Queued, InFlight: c.InFlight, Sent: c.Sent}
		}
	}
	p.t.Fatal("there is no operator")
	return outStatus{}
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	_ = p.cmd.Wait()
}

// stop ends the process with SIGTERM, and returns its exit status.
func (p *process) stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// newStoreDir returns a directory for a store.
func newStoreDir(t *testing.T) string {
	return filepath.Join(t.TempDir(), "store")
}

// problems returns the lines of the log at level error, without those that say that the disk is
// slow, which the disk of a busy machine is now and then.
func (p *process) problems() (lines []string) {
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
