package pdulog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pmg/internal/logfile"
)

// follow runs Follow. It returns a function for the lines visited so far, and one to end it.
func follow(t *testing.T, dir string, q Query) (got func() []int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var mu sync.Mutex
	var lines []int
	go func() {
		defer close(ended)
		if skipped, err := Follow(ctx, dir, q, func(e *Entry) error {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, sequence(t, e))
			return nil
		}); err != nil || skipped != 0 {
			t.Errorf("Follow: skipped %d, error %v", skipped, err)
		}
	}()
	got = func() []int {
		time.Sleep(2 * pollEvery)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(lines)
	}
	return got, func() { cancel(); <-ended }
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "pdulog")
		got, stop := follow(t, dir, Query{})
		defer stop()
		wantNumbers(t, got(), nil) // not even the directory is there

		n := 0
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 1000, Compress: true}})
		write := func() {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
			n++
		}
		write()
		wantNumbers(t, got(), numbers(0, n))
		for range 100 { // several rotations between two polls
			write()
		}
		wantNumbers(t, got(), numbers(0, n))
		for range 100 { // one at a time
			write()
			got()
		}
		wantNumbers(t, got(), numbers(0, n))

		// Another program moves the file, and later Reopen is called.
		path := filepath.Join(dir, "clients.log")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		write()
		got()
		write()
		wantNumbers(t, got(), numbers(0, n))
		f.dir.Reopen()
		write()
		wantNumbers(t, got(), numbers(0, n))

		// Another program empties it.
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, got(), numbers(0, n))
		write()
		wantNumbers(t, got(), numbers(0, n))

		// Another connector appears.
		g := mustOpen(t, dir, "operator", Options{})
		g.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
		n++
		mustClose(t, g)
		wantNumbers(t, got(), numbers(0, n))
		mustClose(t, f)
	})
}

func TestFollowGivesWholeLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "clients.log")
		const line = "2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq="
		mustWrite(t, path, line)
		got, stop := follow(t, dir, Query{})
		defer stop()
		wantNumbers(t, got(), nil)
		mustWrite(t, path, line+"1\n"+line)
		wantNumbers(t, got(), []int{1})
		mustWrite(t, path, line+"1\n"+line+"22\n")
		wantNumbers(t, got(), []int{1, 22})

		// A half line is cut off after a crash, and other lines follow.
		mustWrite(t, path, line+"1\n"+line+"22\n"+line)
		wantNumbers(t, got(), []int{1, 22})
		f := mustOpen(t, dir, "clients", Options{})
		f.Line(time.Now().UnixNano(), 1, true, &fakePDU{shown: "bind_transceiver seq=333 system_id=load"}, LoggedIn, About{})
		mustClose(t, f)
		wantNumbers(t, got(), []int{1, 22, 333})
	})
}

func TestFollowFromLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := mustOpen(t, dir, "clients", Options{})
		for n := range 10 {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
		}
		flush(f, time.Now().UnixNano())
		got3, stop3 := follow(t, dir, Query{Last: 3})
		defer stop3()
		gotNone, stopNone := follow(t, dir, Query{Last: -1})
		defer stopNone()
		wantNumbers(t, got3(), numbers(7, 10))
		wantNumbers(t, gotNone(), nil)
		f.Line(time.Now().UnixNano(), 1, true, submit(10), LoggedIn, About{})
		mustClose(t, f)
		wantNumbers(t, got3(), numbers(7, 11))
		wantNumbers(t, gotNone(), numbers(10, 11))
	})
}

// A busyLog is a context. Each look at it writes a line, so that a reader never comes to the end.
type busyLog struct {
	context.Context
	write func()
	left  int
}

func (b *busyLog) Err() error {
	if b.left--; b.left < 0 {
		return errors.New("the reader has come to no end")
	}
	b.write()
	return b.Context.Err()
}

// The last lines, and then new ones, are there although lines are written as fast as they are read.
func TestFollowFromLastUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, n := t.TempDir(), 0
		f := mustOpen(t, dir, "clients", Options{})
		write := func() {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
			n++
		}
		for range 10 {
			write()
		}
		for _, follows := range []bool{true, false} {
			before := n
			live, cancel := context.WithCancel(t.Context())
			ctx := &busyLog{live, func() { time.Sleep(time.Millisecond); write() }, 1000}
			var got []int
			visit := func(e *Entry) error {
				if got = append(got, sequence(t, e)); len(got) == 5 {
					cancel()
				}
				return nil
			}
			read, want := Read, numbers(before-3, before)
			if follows {
				read, want = Follow, numbers(before-3, before+2)
			}
			if _, err := read(ctx, dir, Query{Last: 3}, visit); err != nil || !slices.Equal(got, want) {
				t.Errorf("follows %t: %v, %v, not %v", follows, got, err, want)
			}
			cancel()
		}
		mustClose(t, f)
	})
}

// In real time and with real races, no line is missed or visited twice while files are
// rotated and compressed as fast as possible.
func TestFollowRotationStress(t *testing.T) {
	const lines = 20000
	dir := t.TempDir()
	written := make(chan struct{})
	go func() {
		defer close(written)
		f, err := NewDir(dir, Options{Options: logfile.Options{MaxSize: 20000, Compress: true}}).Open("clients")
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for n := range lines {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			if n%10 == 9 {
				flush(f, time.Now().UnixNano())
			}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var got []int
	if _, err := Follow(ctx, dir, Query{}, func(e *Entry) error {
		if got = append(got, sequence(t, e)); len(got) == lines {
			cancel()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, got, numbers(0, lines))
	<-written
}

func TestReadMerges(t *testing.T) {
	dir := t.TempDir()
	a, b := mustOpen(t, dir, "a", Options{}), mustOpen(t, dir, "b", Options{})
	base := at("2026-11-20T19:05:22Z")
	for n := range 100 {
		f := a
		if n%3 == 0 {
			f = b
		}
		f.Line(base+int64(n)*1000, 1, n%2 == 0, submit(n), LoggedIn, About{})
	}
	mustClose(t, a)
	mustClose(t, b)
	wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 100))
	wantNumbers(t, readAll(t, dir, Query{Last: 7}), numbers(93, 100))
	wantNumbers(t, readAll(t, dir, Query{Last: 1000}), numbers(0, 100))
	wantNumbers(t, readAll(t, dir, Query{Last: 2, Connectors: []string{"b"}}), []int{96, 99})
	wantNumbers(t, readAll(t, dir, Query{Last: 2, Filter: Filter{Direction: "in"}}), []int{96, 98})
	wantNumbers(t, readAll(t, dir, Query{Filter: Filter{
		Since: time.Unix(0, base+10_000), Until: time.Unix(0, base+13_000)}}), numbers(10, 13))
}

func TestReadLastAcrossFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 600, Compress: true}})
		start := time.Now()
		for n := range 100 {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
			time.Sleep(time.Second)
		}
		mustClose(t, f)
		for _, n := range []int{1, 9, 10, 11, 50, 99, 100, 101} {
			wantNumbers(t, readAll(t, dir, Query{Last: n}), numbers(max(0, 100-n), 100))
		}
		wantNumbers(t, readAll(t, dir, Query{Filter: Filter{Since: start.Add(55 * time.Second)}}), numbers(55, 100))
	})
}

// The last lines are found even if they are larger than the first piece that is read.
func TestReadLastOfLargeFile(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{})
	const lines = 60000
	for n := range lines {
		f.Line(int64(n)*1000, n%2, true, submit(n), LoggedIn, About{})
	}
	mustClose(t, f)
	for _, n := range []int{1, 10, 18000, 20000, 50000} {
		got := readAll(t, dir, Query{Last: n})
		wantNumbers(t, got, numbers(lines-n, lines))
	}
}

func TestReadLongLineAndGarbage(t *testing.T) {
	dir := t.TempDir()
	long := make([]byte, 300_000)
	for i := range long {
		long[i] = 'x'
	}
	line := "2026-11-20T19:05:22.469303Z clients/3 < data_sm seq=1 payload=" + string(long) + "\n"
	mustWrite(t, filepath.Join(dir, "clients.log"), line+"garbage\n"+line+line[:100])
	sizes := ""
	skipped, err := Read(context.Background(), dir, Query{}, func(e *Entry) error {
		sizes += strconv.Itoa(len(e.Line)+1-len(line)) + " "
		return nil
	})
	if err != nil || skipped != 1 || sizes != "0 0 " {
		t.Errorf("skipped %d, error %v, sizes %q", skipped, err, sizes)
	}
}

// An interrupt does not wait for the end of a log none of whose lines is wanted.
func TestReadEndsBetweenMatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "clients.log"), strings.Repeat("2026-11-20T19:05:22.469303Z clients/3 < enquire_link seq=1\n", 1000))
	live, cancel := context.WithCancel(t.Context())
	looks := 0
	ctx := &busyLog{live, func() {
		if looks++; looks == 10 {
			cancel()
		}
	}, 1 << 20}
	_, err := Read(ctx, dir, Query{Filter: Filter{Commands: []string{"submit_sm"}}}, func(*Entry) error { return nil })
	if !errors.Is(err, context.Canceled) || looks > 20 {
		t.Errorf("%v after %d looks", err, looks)
	}
}
