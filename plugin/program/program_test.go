package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/plugin/plugintest"
)

func TestMain(m *testing.M) {
	plugintest.Speak()
	testutil.NoLeaks(m)
}

// start returns a plugin of a program that behaves in a certain way.
func start(t *testing.T, o Options, way ...string) *Program {
	t.Helper()
	o.Command = plugintest.Command(way...)
	p := New(o)
	t.Cleanup(p.Close)
	return p
}

// asks asks about a message, and checks the verdict.
func asks(t *testing.T, p *Program, i int) {
	t.Helper()
	m := plugintest.Message(i)
	v, err := p.Ask(t.Context(), m)
	if want := plugintest.Describe(plugintest.Decide(m)); err != nil || plugintest.Describe(v) != want {
		t.Errorf("%d: %s, %v", i, plugintest.Describe(v), err)
	}
}

// fails asks about a message, and checks the error.
func fails(t *testing.T, p *Program, want string) {
	t.Helper()
	v, err := p.Ask(t.Context(), plugintest.Message(1))
	if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 || plugintest.Describe(v) != "{}" {
		t.Errorf("%+v, %.500v, want %s", v, err, want)
	}
}

// Many questions of many callers have their answers from a few processes.
func TestMany(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Workers: 3}, "decide")
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() { asks(t, p, i) })
	}
	all.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.processes); n == 0 || n > 3 {
		t.Errorf("%d processes", n)
	}
}

// A process is started when it is needed, and kept.
func TestStartsWhenNeeded(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Workers: 10}, "pids")
	if len(p.processes) != 0 {
		t.Error("it was started before")
	}
	pids := map[string]bool{}
	for range 20 {
		v, err := p.Ask(t.Context(), plugintest.Message(1))
		if err != nil {
			t.Fatal(err)
		}
		pids[v.Why] = true
	}
	if len(pids) != 1 {
		t.Error(pids)
	}
}

// What is no answer fails with an error that says what came, and not all of it.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"":                                   `it answers "\n": EOF`,
		"hello":                              `it answers "hello\n": invalid character`,
		strings.Repeat("x", 10_000):          `xxx"…: invalid character`,
		strings.Repeat("[", 100_000):         `exceeded max depth`,
		`{"n":N}`:                            `it answers without a verdict`,
		`{"n":N,"verdict":null}`:             `it answers without a verdict`,
		`{"n":N,"verdict":{"do":7}}`:         `cannot unmarshal number`,
		`{"n":N,"verdict":{"du":"refuse"}}`:  `unknown field "du"`,
		`{"n":N,"verdicts":[{}]}`:            `unknown field "verdicts"`,
		`{"n":N,"verdict":{}} {}`:            `something follows`,
		`{"n":N1,"verdict":{}}`:              `it answers question 11, not 1`,
		`{"n":0,"verdict":{}}`:               `it answers question 0, not 1`,
		`{"verdict":{}}`:                     `it answers question 0, not 1`,
		`{"n":-1,"verdict":{}}`:              `cannot unmarshal number -1`,
		`{"n":N,"verdict":{"until":"soon"}}`: `parsing time "soon"`,
	} {
		fails(t, start(t, Options{}, "says", answer), want)
	}
	fails(t, start(t, Options{}, "exits"), "(exit status 3)")
	fails(t, start(t, Options{}, "talks"), `"hello\n"`) // before it is asked, or as if that were its answer
}

// A program that dies at any octet of its answer leaves no verdict, and is started again for the next question.
func TestDies(t *testing.T) {
	t.Parallel()
	const whole = len(`{"n":1,"verdict":{"text":"46700000001 ` + `\u003cåäö\u003e \u0026 \"\n\"","tags":["a:1"]}}`)
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for n := from; n <= whole+1; n += 4 {
				p := start(t, Options{}, "dies", fmt.Sprint(n))
				v, err := p.Ask(t.Context(), plugintest.Message(1))
				want := fmt.Sprintf("its output ends within a line: %s", `"{`)
				if n == 0 {
					want = "its output has ended"
				}
				if n > whole != (err == nil) || err == nil && v.Text == nil || err != nil && (!strings.HasPrefix(err.Error(), want[:20]) || !strings.HasSuffix(err.Error(), " (exit status 3)")) {
					t.Errorf("at %d: %+v, %v", n, v, err)
				}
				p.Close()
			}
		})
	}
	all.Wait()
}

// A program that ends behind each answer is started for each question.
func TestOnce(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Workers: 2}, "once")
	for i := range 5 {
		asks(t, p, i)
		testutil.Eventually(t, "it has ended", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.processes) == 0 })
	}
}

// An answer that comes twice is never the next message's.
func TestTwice(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"twice", "late twice"} {
		p := start(t, Options{Workers: 2}, way)
		answered := 0
		for i := range 8 {
			m := plugintest.Message(i)
			v, err := p.Ask(t.Context(), m)
			if err == nil {
				answered++
			}
			if err == nil && plugintest.Describe(v) != plugintest.Describe(plugintest.Decide(m)) {
				t.Errorf("%s, %d: %s", way, i, plugintest.Describe(v))
			}
		}
		if answered == 0 {
			t.Errorf("%s: nothing is answered", way)
		}
	}
}

// A line without end is read up to a mebibyte.
func TestLineWithoutEnd(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, "endless")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fails(t, p, "it answers more than 1048576 octets in a line")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
		t.Errorf("%d octets", n)
	}
}

// A process that hangs is killed when its caller's time is over. Others are answered meanwhile.
func TestHangs(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"half", "deaf", "hangs"} {
		p := start(t, Options{Workers: 2}, way)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		m := plugintest.Message(1)
		m.Text = "hang"
		if way == "deaf" {
			m.Text = strings.Repeat("x", 1<<20) // more than a pipe takes
		}
		go func() { _, err := p.Ask(ctx, m); errs <- err }()
		testutil.Eventually(t, "it works", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.processes) == 1 })
		if way == "hangs" {
			for i := range 50 {
				asks(t, p, i)
			}
		}
		cancel()
		if err := testutil.Receive(t, "an answer", errs); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", way, err)
		}
		if way == "hangs" {
			asks(t, p, 1)
		}
	}
}

// Whose time is over before it has a process harms none.
func TestTooLate(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, "hangs")
	asks(t, p, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Ask(ctx, plugintest.Message(1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, w := range []*worker{testutil.Receive(t, "a process that is ready", p.ready)} {
		if w.process.hasEnded() || w.pause != 0 {
			t.Error("its process was killed")
		}
		p.ready <- w
	}
}

// The back-off doubles to half a minute, and an answer resets it.
func TestBackOff(t *testing.T) {
	t.Parallel()
	w := &worker{}
	now := time.Now()
	for _, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000} {
		if w.fail(now); w.pause != want*time.Millisecond || !w.from.Equal(now.Add(w.pause)) {
			t.Errorf("%v, %v, want %d ms", w.pause, w.from.Sub(now), want)
		}
	}
	p := start(t, Options{}, "once")
	w = testutil.Receive(t, "a process that is idle", p.idle)
	w.pause = longestPause
	p.idle <- w
	asks(t, p, 1)
	if w.pause != 0 {
		t.Errorf("%v", w.pause)
	}
}

// While no process can run, a caller hears why.
func TestReason(t *testing.T) {
	t.Parallel()
	p := New(Options{Command: []string{filepath.Join(t.TempDir(), "missing")}})
	defer p.Close()
	fails(t, p, "no such file")
	w := testutil.Receive(t, "a process that is idle", p.idle) // after its back-off
	w.from = time.Now().Add(time.Hour)
	p.idle <- w
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Ask(ctx, plugintest.Message(1)); err == nil || !strings.Contains(err.Error(), "no process was free before the deadline: cannot start it:") {
		t.Error(err)
	}
	none := New(Options{})
	defer none.Close()
	fails(t, none, "there is no command")
}

// A program has PATH and LANG, three descriptors, its directory, and the rights of its user.
func TestSees(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("/proc is Linux's")
	}
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sees := func(o Options, want string) {
		t.Helper()
		o.Dir = dir
		v, err := start(t, o, "sees").Ask(t.Context(), plugintest.Message(1))
		if err != nil || !strings.HasPrefix(v.Why, want) {
			t.Errorf("%s, %v, want %s", v.Why, err, want)
		}
	}
	sees(Options{}, fmt.Sprint("[LANG PATH] 3 ", dir, " ", os.Getuid(), " ", os.Getgid()))
	fails(t, start(t, Options{User: "no-such-user"}, "sees"), "cannot find user no-such-user")
	if os.Getuid() != 0 {
		fails(t, start(t, Options{User: "root"}, "sees"), "only root can run it as another")
		return
	}
	sees(Options{User: "root"}, "[LANG PATH] 3 ")
	dir = "/"
	copied := filepath.Join(testutil.ShortDir(t), "program")
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(copied, binary, 0o755), os.Chmod(filepath.Dir(copied), 0o755)); err != nil {
		t.Fatal(err)
	}
	p := New(Options{Command: append([]string{copied}, plugintest.Command("sees")[1:]...), User: "nobody", Dir: dir})
	defer p.Close()
	if v, err := p.Ask(t.Context(), plugintest.Message(1)); err != nil || !strings.Contains(v.Why, " 3 / 65534 65534 [65534]") {
		t.Error(v.Why, err)
	}
}

// isGone reports whether a process has ended. Its parent may not have waited for it yet.
func isGone(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(b), ") ")
	return err != nil || strings.HasPrefix(state, "Z")
}

// Close kills the processes that work and those that wait, and their children. What is asked then fails.
func TestClose(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Workers: 3}, "family")
	v, err := p.Ask(t.Context(), plugintest.Message(1))
	family := strings.Fields(v.Why)
	if err != nil || len(family) != 2 {
		t.Fatal(v.Why, err)
	}
	hanging := start(t, Options{Workers: 3}, "pids")
	errs := make(chan error)
	for range 5 {
		go func() { _, err := hanging.Ask(context.Background(), &plugin.Message{Text: "hang"}); errs <- err }()
	}
	var pids []int
	testutil.Eventually(t, "three work", func() bool {
		hanging.mu.Lock()
		defer hanging.mu.Unlock()
		pids = nil
		for process := range hanging.processes {
			pids = append(pids, process.cmd.Process.Pid)
		}
		return len(pids) == 3
	})
	p.Close()
	hanging.Close()
	for range 5 {
		if err := testutil.Receive(t, "an answer", errs); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
	for _, pid := range family {
		testutil.Eventually(t, pid+" has ended", func() bool { return isGone(pid) })
	}
	fails(t, p, errClosed.Error())
	p.Close()
}

// A child that has left the group of its program ends with it as well.
func TestRunaway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it is found by /proc, which is Linux's")
	}
	p := start(t, Options{}, "runaway")
	v, err := p.Ask(t.Context(), plugintest.Message(1))
	family := strings.Fields(v.Why)
	if err != nil || len(family) != 2 {
		t.Fatal(v.Why, err)
	}
	if isGone(family[1]) {
		t.Fatal("it has ended by itself")
	}
	p.Close()
	for _, pid := range family {
		testutil.Eventually(t, pid+" has ended", func() bool { return isGone(pid) })
	}
}

// Lines of stderr are logged, with bounds on their length and number.
func TestStderr(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []string
	p := start(t, Options{Log: func(line string) { mu.Lock(); defer mu.Unlock(); lines = append(lines, line) }}, "stderr")
	asks(t, p, 1)
	testutil.Eventually(t, "lines are logged", func() bool { mu.Lock(); defer mu.Unlock(); return len(lines) >= mostLines })
	p.Close()
	if lines[0] != strings.Repeat("x", longestLine) || lines[1] != "bad \uFFFD" || lines[2] != "again" {
		t.Errorf("%.200q", lines[:3])
	}
	start(t, Options{}, "stderr").Close()
}

// The rate is that of all processes together, and lines that were left out are counted.
func TestStderrRate(t *testing.T) {
	t.Parallel()
	var lines []string
	l := stderrLog{to: func(line string) { lines = append(lines, line) }}
	now := time.Unix(100, 0)
	for range 3 * mostLines {
		l.line("a", now)
	}
	l.line("b", now.Add(time.Second))
	if n := len(lines); n != mostLines+2 || lines[n-2] != fmt.Sprint(2*mostLines, " lines were omitted") || lines[n-1] != "b" {
		t.Error(lines)
	}
}
