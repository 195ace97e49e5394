package pdulog

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
)

func TestLine(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Text: true})
	f.Line(at("2026-11-20T19:05:22.469303Z"), 3, true, &fakePDU{shown: `submit_sm seq=17 short_message="hello"`}, LoggedIn, About{})
	f.Line(at("2026-11-20T19:05:22.469391999Z"), 3, false, &fakePDU{shown: "submit_sm_resp seq=17 status=0"}, LoggedIn, About{})
	f.Line(at("2026-11-20T19:05:23Z"), 12, true, submit(18), LoggedIn, About{})
	f.Line(at("2026-11-20T19:05:22.000001Z"), 0, true, submit(19), LoggedIn, About{}) // the clock was set back
	flush(f, at("2026-11-20T19:05:23Z"))
	want := `2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 short_message="hello"
2026-11-20T19:05:22.469391Z clients/3 > submit_sm_resp seq=17 status=0
2026-11-20T19:05:23.000000Z clients/12 < submit_sm seq=18
2026-11-20T19:05:22.000001Z clients/0 < submit_sm seq=19
`
	if got := mustRead(t, dir, "clients.log"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if f.Lines() != 4 || f.Lost() != 0 {
		t.Errorf("%d lines, %d lost", f.Lines(), f.Lost())
	}
	mustClose(t, f)
}

func TestTextIsHidden(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Text: false})
	f.Line(0, 1, true, &fakePDU{shown: `submit_sm short_message="secret"`, hidden: "submit_sm short_message=6"}, LoggedIn, About{})
	mustClose(t, f)
	if got := mustRead(t, dir, "clients.log"); strings.Contains(got, "secret") {
		t.Errorf("text is in %q", got)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", ".x", "a/b", "a b", "a\n", "a-20261120T190522.469303"} {
		if f, err := NewDir(t.TempDir(), Options{}).Open(name); err == nil {
			f.Close()
			t.Errorf("Open accepts %q", name)
		}
	}
}

func TestDue(t *testing.T) {
	f := mustOpen(t, t.TempDir(), "clients", Options{Flush: 100 * time.Millisecond})
	now := time.Now().UnixNano()
	want := func(due int64, why string) {
		t.Helper()
		if f.Due() != due {
			t.Errorf("%s: due %d; want %d", why, f.Due(), due)
		}
	}
	want(0, "nothing waits")
	f.Line(now, 1, true, submit(1), LoggedIn, About{})
	f.Line(now+50e6, 1, true, submit(2), LoggedIn, About{})
	want(now+100e6, "100 ms after the first line")
	f.Line(now+60e6, 1, true, &fakePDU{shown: strings.Repeat("x", chunkSize)}, LoggedIn, About{})
	if len(f.buf) != 0 {
		t.Error("a full chunk is not handed over")
	}
	want(now+100e6, "lines are handed over, but the writer may sleep")
	flush(f, now)
	want(0, "the writer was woken")
	mustClose(t, f)
}

func TestDiskFull(t *testing.T) {
	dir, d := t.TempDir(), &disk{room: 100}
	var log testutil.Log
	f := openOn(t, dir, Options{Log: zerolog.New(&log)}, d.open)
	now := time.Now().UnixNano()
	add := func(from, to int) {
		for n := from; n < to; n++ {
			f.Line(now, 1, true, submit(n), LoggedIn, About{})
		}
	}

	add(0, 10)
	flush(f, now)
	if got := mustRead(t, dir, "clients.log"); !strings.HasSuffix(got, " seq=0\n") {
		t.Errorf("a full disk leaves %q, want one whole line", got)
	}
	if f.Lines() != 1 || f.Errors() == 0 {
		t.Errorf("%d lines, %d errors; want 1 line, and errors", f.Lines(), f.Errors())
	}

	// Cutting the half line off fails as well: it is done before anything is written.
	d.room, d.noTruncate = 30, true
	flush(f, now)
	flush(f, now)
	if got := mustRead(t, dir, "clients.log"); strings.HasSuffix(got, "\n") {
		t.Errorf("nothing is torn in %q", got)
	}
	d.room, d.noTruncate = 1<<30, false
	add(10, 20)
	flush(f, now)
	wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 20))
	if f.Lost() != 0 || f.Lines() != 20 {
		t.Errorf("%d lines, %d lost; want 20, 0", f.Lines(), f.Lost())
	}

	// When memory is full too, lines are lost and counted.
	d.room = 0
	f.dir.limit = 10 * chunkSize
	fill := &fakePDU{shown: strings.Repeat("x", chunkSize)}
	for range 15 {
		f.Line(now, 1, true, fill, LoggedIn, About{})
		flush(f, now)
	}
	if f.Lost() == 0 || f.dir.waiting.Load() > f.dir.limit {
		t.Errorf("%d lines lost, %d bytes wait", f.Lost(), f.dir.waiting.Load())
	}
	lost := f.Lost()
	d.room = 1 << 30
	flush(f, now)
	flush(f, now)
	if f.Lost() != lost || f.Lines() != 20+15-lost || f.dir.waiting.Load() != 0 {
		t.Errorf("%d lines, %d lost, %d bytes wait; want all but %d", f.Lines(), f.Lost(), f.dir.waiting.Load(), lost)
	}
	wantMessages(t, &log, "cannot be written", "written again", "cannot be written", `"lost":1`, "written again")
	mustClose(t, f)
}

func wantMessages(t *testing.T, log *testutil.Log, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, line := range lines {
		if !json.Valid([]byte(line)) || len(lines) != len(want) || !strings.Contains(line, want[i]) {
			t.Fatalf("logged\n%s\nwant %q", log, want)
		}
	}
}

func TestCloseOnFullDisk(t *testing.T) {
	d := &disk{room: 0}
	f := openOn(t, t.TempDir(), Options{}, d.open)
	f.Line(0, 1, true, submit(1), LoggedIn, About{})
	f.Line(0, 1, true, submit(2), LoggedIn, About{})
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "2 lines lost") || f.Lost() != 2 {
		t.Errorf("Close: %v, %d lost", err, f.Lost())
	}
}

func TestHalfLineIsCutOff(t *testing.T) {
	const whole = "2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=0\n"
	f := func(before, want string) {
		t.Helper()
		dir := t.TempDir()
		mustWrite(t, filepath.Join(dir, "clients.log"), before)
		f := mustOpen(t, dir, "clients", Options{})
		mustClose(t, f)
		if got := mustRead(t, dir, "clients.log"); got != want {
			t.Errorf("%d bytes left of %d, want %d", len(got), len(before), len(want))
		}
	}
	f("", "")
	f(whole, whole)
	f(whole+whole[:20], whole)
	f(whole[:20], "")
	f(whole+strings.Repeat("\x00", 9000), whole) // what a power cut may leave
	f(strings.Repeat(whole, 500)+"2", strings.Repeat(whole, 500))
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{})
	path := filepath.Join(dir, "clients.log")
	f.Line(0, 1, true, submit(0), LoggedIn, About{})
	flush(f, 0)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	f.Line(0, 1, true, submit(1), LoggedIn, About{})
	flush(f, 0)
	done := make(chan struct{})
	go func() { f.dir.Reopen(); close(done) }()
	<-done
	f.Line(0, 1, true, submit(2), LoggedIn, About{})
	flush(f, 0)
	wantNumbers(t, readAll(t, dir, Query{}), []int{2})
	if got := mustRead(t, path+".1"); strings.Count(got, "\n") != 2 {
		t.Errorf("moved file holds %q, want 2 lines", got)
	}
	mustClose(t, f)
}

func TestLineDoesNotAllocate(t *testing.T) {
	f := mustOpen(t, t.TempDir(), "clients", Options{})
	defer f.Close()
	p, now := submit(1), time.Now().UnixNano()
	about := About{ID: 0x1a1fb0c12c230d41, Account: "an account whose name needs \"quotes\" and is long"}
	barrier := chunk{done: make(chan error, 1)}
	batch := func() {
		for range 1000 {
			now += 1e6
			f.Line(now, 3, true, p, LoggedIn, about)
		}
		f.Flush(now)
		f.w.Load().put(barrier, true)
		<-barrier.done
	}
	for range 10 {
		batch()
	}
	if n := testing.AllocsPerRun(10, batch); n > 0 {
		t.Errorf("%v allocations per 1000 lines and a flush", n)
	}
}

// BenchmarkLine measures the cost of a line without AppendLog, which copies 16 bytes here.
func BenchmarkLine(b *testing.B) {
	f := openOn(b, b.TempDir(), Options{}, func(path string) (logfile.OSFile, error) {
		file, err := logfile.OpenFile(path)
		return nowhere{file}, err
	})
	defer f.Close()
	p, now := submit(1), time.Now().UnixNano()
	for name, about := range map[string]About{"plain": {}, "about": {ID: 0x1a1fb0c12c230d41, Account: "acme"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				now += 5000
				f.Line(now, 3, true, p, LoggedIn, about)
			}
		})
	}
}

type nowhere struct{ logfile.OSFile }

func (nowhere) Write(b []byte) (int, error) { return io.Discard.Write(b) }
