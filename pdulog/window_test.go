package pdulog

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/internal/logfile"
)

// shownBy returns the numbers of lines as a window visits them.
func shownBy(t *testing.T, entries []*Entry) (got []int) {
	t.Helper()
	var w window
	visit := func(e *Entry) error { got = append(got, sequence(t, e)); return nil }
	for _, e := range entries {
		if err := w.add(e, visit); err != nil {
			t.Fatal(err)
		}
		if w.octets > windowOctets {
			t.Fatalf("%d octets are held", w.octets)
		}
	}
	if err := w.empty(visit); err != nil || w.octets != 0 {
		t.Fatalf("%d octets are left: %v", w.octets, err)
	}
	return got
}

func entryAt(t *testing.T, at time.Duration, n int, text string) *Entry {
	t.Helper()
	e, err := Parse(fmt.Appendf(nil, "%s c/1 < submit_sm seq=%d%s", time.Unix(1_800_000_000, int64(at)).UTC().Format(timeLayout), n, text))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// Lines are shown in the order of their times, and those of the same time as they were written.
func TestWindowOrders(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 0))
		type one struct {
			at, written time.Duration
			n           int
		}
		var lines []one
		for n := range 2000 {
			at := time.Duration(n/3) * 50 * time.Millisecond
			lines = append(lines, one{at, at + time.Duration(r.Int64N(int64(logfile.Overlap))), n})
		}
		slices.SortStableFunc(lines, func(a, b one) int { return cmp.Compare(a.written, b.written) })
		var entries []*Entry
		for _, l := range lines {
			entries = append(entries, entryAt(t, l.at, l.n, ""))
		}
		slices.SortStableFunc(lines, func(a, b one) int { return cmp.Compare(a.at, b.at) })
		var want []int
		for _, l := range lines {
			want = append(want, l.n)
		}
		wantNumbers(t, shownBy(t, entries), want)
	}
}

// Lines of before the clock was set back stay before the others, and a window does not hold more than its room.
func TestWindowEnds(t *testing.T) {
	const second, hour = time.Second, time.Hour
	long := string(slices.Repeat([]byte{'x'}, windowOctets/4))
	for _, c := range []struct {
		name string
		at   []time.Duration
		text string
		want []int
	}{
		{"no line", nil, "", nil},
		{"set back", []time.Duration{2 * hour, 2*hour + 2*second, 2*hour + second, hour, hour + 2*second, hour + second, 2 * hour}, "",
			[]int{0, 2, 1, 3, 5, 4, 6}},
		{"set back by the most that is an overlap", []time.Duration{hour, hour - logfile.Overlap}, "", []int{1, 0}},
		{"set back by a little more", []time.Duration{hour, hour - logfile.Overlap - time.Microsecond}, "", []int{0, 1}},
		{"more than there is room for", []time.Duration{4 * second, 5 * second, 3 * second, 1 * second, 2 * second}, " text=" + long, []int{2, 1, 3, 4, 0}},
	} {
		var entries []*Entry
		for n, at := range c.at {
			entries = append(entries, entryAt(t, at, n, c.text))
		}
		got := shownBy(t, entries)
		if c.text != "" { // which ones were shown early depends on the room
			slices.Sort(got)
			slices.Sort(c.want)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

const (
	besideLines = 2000
	besideEvery = 50 * time.Millisecond
)

func besideTime(n int) time.Time {
	return time.Unix(0, at("2026-11-20T19:05:22Z")).Add(time.Duration(n) * besideEvery)
}
func besideID(n int) uint64 { return uint64(n)<<32 + 0xabc }

// writeBeside writes a log as three goroutines would, each line a message. The files do not have the order of the times.
func writeBeside(t *testing.T, o logfile.Options) (dir string) {
	dir = t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Options: o, Flush: 10 * time.Second})
	all, r := besides(f, 3), rand.New(rand.NewPCG(1, 2))
	for n := range besideLines {
		now := besideTime(n).UnixNano()
		text := fmt.Sprintf("submit_sm seq=%d source_addr=1 destination_addr=46700000001", n)
		all[r.IntN(3)].Line(now, 1, true, &fakePDU{shown: text}, LoggedIn, About{ID: besideID(n)})
		for i, one := range all {
			if due := one.Due(); due != 0 && due <= now || r.IntN(100) < i {
				flush(one, now)
			}
		}
	}
	for _, one := range all {
		flush(one, besideTime(besideLines).UnixNano()) // Close has the time of this machine
	}
	if err := f.dir.Close(); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, dir)[1]; len(got) != besideLines || slices.IsSorted(got) {
		t.Fatalf("%d lines are in the files, or in the order of the times, which makes this test useless", len(got))
	}
	return dir
}

// What is read of several goroutines' lines is what was asked for, in the order of the times, across rotations.
func TestReadBeside(t *testing.T) {
	dir := writeBeside(t, logfile.Options{MaxSize: 20_000, Compress: true})
	if files := names(t, dir); len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	wantNumbers(t, readAll(t, dir, Query{}), numbers(0, besideLines))
	for n := 1; n < besideLines; n += 61 {
		at := besideTime(n)
		wantNumbers(t, readAll(t, dir, Query{Last: n}), numbers(besideLines-n, besideLines))
		wantNumbers(t, readAll(t, dir, Query{Filter: Filter{Since: at}}), numbers(n, besideLines))
		wantNumbers(t, readAll(t, dir, Query{Filter: Filter{Until: at}}), numbers(0, n))
		trace := Trace{ID: fmt.Sprintf("%016x", besideID(n)), Filter: Filter{Since: at, Until: at.Add(besideEvery)}}
		if got, err := trace.Trace(t.Context(), dir); err != nil || len(got) != 1 {
			t.Fatalf("trace of line %d: %d lines, %v", n, len(got), err)
		}
	}
}

// The last line by its time is found, though it stands far before the end, behind lines that are earlier than all near the end.
func TestReadLastBeside(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("x", 32<<10)
	var log strings.Builder
	for n := range 100 {
		at := time.Duration(n) * time.Millisecond
		switch {
		case n == 0:
			at = 10 * time.Second
		case n >= 60: // more than the end that is read first
			at += 5 * time.Second
		}
		log.Write(entryAt(t, at, n, " text="+long).Line)
		log.WriteByte('\n')
	}
	mustWrite(t, filepath.Join(dir, "c.log"), log.String())
	wantNumbers(t, readAll(t, dir, Query{Last: 2}), []int{99, 0})
}

// The latest messages of a block are those with the latest times.
func TestLatestBeside(t *testing.T) {
	dir := writeBeside(t, logfile.Options{})
	for most := 1; most < maxTraced; most += 7 {
		latest := Trace{Most: most}
		got, err := latest.Trace(t.Context(), dir)
		if err != nil || len(got) != most || !latest.From.Equal(besideTime(besideLines-most)) {
			t.Fatalf("the latest %d: %d lines from %s, %v", most, len(got), latest.From, err)
		}
		for i, line := range got {
			if e, err := Parse(line); err != nil || sequence(t, &e) != besideLines-most+i {
				t.Fatalf("line %d of the latest %d is %s", i, most, line)
			}
		}
	}
}
