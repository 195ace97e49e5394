package pdulog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestLine(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Text: true})
	f.Line(at("2026-11-20T19:05:22.469303Z"), 3, true, &fakePDU{shown: `submit_sm seq=17 short_message="hello"`})
	f.Line(at("2026-11-20T19:05:22.469391999Z"), 3, false, &fakePDU{shown: "submit_sm_resp seq=17 status=0"})
	f.Line(at("2026-11-20T19:05:23Z"), 12, true, submit(18))
	f.Line(at("2026-11-20T19:05:22.000001Z"), 0, true, submit(19)) // the clock was set back
	f.Flush(at("2026-11-20T19:05:23Z"))
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
	f.Line(0, 1, true, &fakePDU{shown: `submit_sm short_message="secret"`, hidden: "submit_sm short_message=6"})
	mustClose(t, f)
	if got := mustRead(t, dir, "clients.log"); strings.Contains(got, "secret") {
		t.Errorf("text is in %q", got)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", ".x", "a/b", "a b", "a\n", "a-20261120T190522.469303"} {
		if f, err := Open(t.TempDir(), name, Options{}); err == nil {
			f.Close()
			t.Errorf("Open accepts %q", name)
		}
	}
}

func TestDue(t *testing.T) {
	f := mustOpen(t, t.TempDir(), "clients", Options{Flush: 100 * time.Millisecond})
	now := time.Now().UnixNano()
	want := func(due int64, full bool, why string) {
		t.Helper()
		if f.Due() != due || f.Full() != full {
			t.Errorf("%s: due %d, full %t; want %d, %t", why, f.Due(), f.Full(), due, full)
		}
	}
	want(0, false, "nothing waits")
	f.Line(now, 1, true, submit(1))
	f.Line(now+50e6, 1, true, submit(2))
	want(now+100e6, false, "100 ms after the first line")
	f.Line(now, 1, true, &fakePDU{shown: strings.Repeat("x", flushSize)})
	want(now+100e6, true, "buffer is full")
	f.Flush(now)
	want(0, false, "all is written")
	mustClose(t, f)
}

func TestDiskFull(t *testing.T) {
	dir, d := t.TempDir(), &disk{room: 100}
	var log bytes.Buffer
	f, err := openWith(dir, "clients", Options{Log: zerolog.New(&log)}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	add := func(from, to int) {
		for n := from; n < to; n++ {
			f.Line(now, 1, true, submit(n))
		}
	}

	add(0, 10)
	f.Flush(now)
	if got := mustRead(t, dir, "clients.log"); !strings.HasSuffix(got, " seq=0\n") {
		t.Errorf("a full disk leaves %q, want one whole line", got)
	}
	if f.Full() || f.Due() != now+int64(retryWait) || f.Lines() != 1 {
		t.Errorf("full %t, due %d, %d lines; want to wait for the retry", f.Full(), f.Due()-now, f.Lines())
	}

	// Cutting the half line off fails as well: it is done before anything is written.
	d.room, d.noTruncate = 30, true
	f.Flush(now)
	f.Flush(now)
	if got := mustRead(t, dir, "clients.log"); strings.HasSuffix(got, "\n") {
		t.Errorf("nothing is torn in %q", got)
	}
	d.room, d.noTruncate = 1<<30, false
	add(10, 20)
	f.Flush(now)
	wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 20))
	if f.Lost() != 0 || f.Lines() != 20 {
		t.Errorf("%d lines, %d lost; want 20, 0", f.Lines(), f.Lost())
	}

	// When memory is full too, lines are lost and counted.
	d.room = 0
	fill := &fakePDU{shown: strings.Repeat("x", keepSize/10)}
	for range 15 {
		f.Line(now, 1, true, fill)
		f.Flush(now)
	}
	if f.Lost() != 5 {
		t.Errorf("%d lines lost, want 5", f.Lost())
	}
	d.room = 1 << 30
	f.Flush(now)
	f.Flush(now)
	wantMessages(t, &log, "cannot be written", "written again", "cannot be written", `"lost":5`)
	mustClose(t, f)
}

func wantMessages(t *testing.T, log *bytes.Buffer, want ...string) {
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
	f, err := openWith(t.TempDir(), "clients", Options{}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	f.Line(0, 1, true, submit(1))
	f.Line(0, 1, true, submit(2))
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
	f.Line(0, 1, true, submit(0))
	f.Flush(0)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	f.Line(0, 1, true, submit(1))
	f.Flush(0)
	done := make(chan struct{})
	go func() { f.Reopen(); close(done) }()
	<-done
	f.Line(0, 1, true, submit(2))
	f.Flush(0)
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
	batch := func() {
		for range 1000 {
			now += 1e6
			f.Line(now, 3, true, p)
		}
		f.Flush(now)
	}
	batch()
	if n := testing.AllocsPerRun(10, batch); n > 0 {
		t.Errorf("%v allocations per 1000 lines and a flush", n)
	}
}

// What a line costs on top of AppendLog, which here is a copy of 16 bytes.
func BenchmarkLine(b *testing.B) {
	f, err := openWith(b.TempDir(), "clients", Options{}, func(path string) (logFile, error) {
		file, err := openFile(path)
		return nowhere{file}, err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p, now := submit(1), time.Now().UnixNano()
	b.ReportAllocs()
	for b.Loop() {
		now += 5000
		f.Line(now, 3, true, p)
		if f.Full() {
			f.Flush(now)
		}
	}
}

type nowhere struct{ logFile }

func (nowhere) Write(b []byte) (int, error) { return io.Discard.Write(b) }
