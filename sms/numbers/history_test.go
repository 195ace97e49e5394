package numbers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/sms/number"
)

// textsOf returns changes as text.
func textsOf(all []Change) (lines []string) {
	for i := range all {
		lines = append(lines, string(all[i].appendTo(append([]byte{signOf(all[i].On)}, all[i].Entry...))))
	}
	return lines
}

func wantLines(t *testing.T, what string, got []Change, want ...string) {
	t.Helper()
	if !slices.Equal(textsOf(got), want) {
		t.Errorf("%s: %q, want %q", what, textsOf(got), want)
	}
}

// export returns what Each finds, as text.
func export(t *testing.T, l *List, removed bool) (lines []string) {
	t.Helper()
	err := l.Each(t.Context(), removed, func(c Change) error {
		lines = append(lines, textsOf([]Change{c})[0])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// What the list knows of a number: from the file, a prefix, and changes with their history.
func TestLook(t *testing.T) {
	t.Parallel()
	l := open(t, "46701\n468*\nACME\nPMG*\n")
	if err := os.WriteFile(l.Path()+ChangesSuffix, []byte("+46703174\n-46703174\n+701740605\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		do     func(Origin, ...string) (int, error)
		number string
		from   Origin
	}{
		{l.Add, "+46703174", Origin{Source: Stop, Who: "operator", ID: "a1"}}, {l.Remove, "46703174", Origin{Source: Page, Who: "user anna", Reason: "asked by letter"}},
		{l.Add, "46703174", Origin{Source: Command, Who: "root"}}, {l.Remove, "46899", Origin{Source: API, Who: "token x"}},
	} {
		c.from.At = morning.Add(time.Duration(i) * time.Hour)
		if n, err := c.do(c.from, c.number); n != 1 || err != nil {
			t.Fatal(c.number, n, err)
		}
	}
	for _, c := range []struct {
		address string
		on      bool
		by      Place
		history []string
	}{
		{"46701", true, InFile, nil}, {"+46 70-1", true, InFile, nil}, {"4681", true, ByPrefix, nil}, {"acme", true, InFile, nil}, {"pmgx", true, ByPrefix, nil}, {"4799", false, Nowhere, nil},
		{"0046703174", true, ByChange, []string{
			"+46703174\t2026-11-30T11:14:03Z\tcommand\troot", "-46703174\t2026-11-30T10:14:03Z\tpage\tuser anna\t\tasked by letter", "+46703174\t2026-11-30T09:14:03Z\tstop\toperator\ta1", "-46703174", "+46703174",
		}},
		{"46899", false, ByChange, []string{"-46899\t2026-11-30T12:14:03Z\tapi\ttoken x"}},
		{"701740605", true, ByChange, []string{"+701740605"}},
	} {
		f, err := l.Look(t.Context(), c.address)
		if err != nil || f.On != c.on || f.By != c.by {
			t.Errorf("%s: %+v, %v", c.address, f, err)
		}
		wantLines(t, c.address, f.History, c.history...)
	}
	for _, address := range []string{"", "4670*", "4670174o605", "x\x00", strings.Repeat("1", 1<<20)} {
		var bad BadEntry
		if _, err := l.Look(t.Context(), address); !errors.As(err, &bad) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %.300v", address, err)
		}
	}
	all, err := l.Recent()
	if err != nil || len(all) != 7 {
		t.Fatal(all, err)
	}
	wantLines(t, "recent", all[:2], "-46899\t2026-11-30T12:14:03Z\tapi\ttoken x", "+46703174\t2026-11-30T11:14:03Z\tcommand\troot")
	if s := l.Status(); s.LastStop != morning.Unix() || s.LastAdded != morning.Add(2*time.Hour).Unix() {
		t.Errorf("%+v", s)
	}
	on := []string{"+46701", "+468*", "+ACME", "+PMG*", "+701740605", "+46703174\t2026-11-30T11:14:03Z\tcommand\troot"}
	if got := export(t, l, false); !slices.Equal(got, on) {
		t.Errorf("%q", got)
	}
	if got := export(t, l, true); !slices.Equal(got, append(on, "-46899\t2026-11-30T12:14:03Z\tapi\ttoken x")) {
		t.Errorf("%q", got)
	}
}

// Without a journal there is no history; those who leave end the reading.
func TestLookEnds(t *testing.T) {
	t.Parallel()
	l := open(t, strings.Repeat("46701\n46702\nA\n", 10))
	if f, err := l.Look(t.Context(), "46701"); err != nil || !f.On || f.History != nil {
		t.Error(f, err)
	}
	if all, err := l.Recent(); err != nil || all != nil {
		t.Error(all, err)
	}
	if got := export(t, l, true); !slices.Equal(got, []string{"+46701", "+46702", "+A"}) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(l.Path()+ChangesSuffix, []byte(strings.Repeat("+46701\n", 3*checkEvery)), 0o600); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := l.Look(gone, "46701"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := l.Each(gone, false, func(Change) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	full := errors.New("full")
	if err := l.Each(t.Context(), false, func(Change) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	f, err := l.Look(t.Context(), "46701")
	if err != nil || len(f.History) != MostFound {
		t.Error(len(f.History), err)
	}
}

// Another process compacts the journal while the history is read and written: both see the same, and what is new has its origin.
func TestTwoHistories(t *testing.T) {
	t.Parallel()
	a := open(t, "# none\n")
	b, err := Open(a.Path(), true)
	if err != nil {
		t.Fatal(err)
	}
	at := morning
	change := func(l *List, do func(Origin, ...string) (int, error), number string) string {
		t.Helper()
		at = at.Add(time.Second)
		if n, err := do(Origin{At: at, Source: API, Who: "token x"}, number); n != 1 || err != nil {
			t.Fatal(number, n, err)
		}
		return number + "\t" + at.Format(time.RFC3339) + "\tapi\ttoken x"
	}
	once := change(a, a.Add, "46700")
	change(b, b.Add, "46709")
	b.Fresh()
	var want []string
	for range manyLines/2 + 2*KeptLines {
		want = append(want, "+"+change(a, a.Add, "46701"), "-"+change(a, a.Remove, "46701"))
	}
	want = want[len(want)-KeptLines:]
	slices.Reverse(want)
	info, err := os.Stat(a.Path() + ChangesSuffix)
	if err != nil || info.Size() > 10_000 { // it was compacted
		t.Fatal(info, err)
	}
	if _, err := b.Refresh(at); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "fresh", b.Fresh(), want[0])
	for _, l := range []*List{a, b} {
		f, err := l.Look(t.Context(), "46701")
		if err != nil || f.On {
			t.Error(f, err)
		}
		wantLines(t, "history", f.History[:KeptLines], want...)
		f, err = l.Look(t.Context(), "46700")
		if err != nil || !f.On {
			t.Error(f, err)
		}
		wantLines(t, "history", f.History, "+"+once)
	}
}

// What a process that was killed has written of a line is removed by the next one, wherever it ends.
func TestHalfLines(t *testing.T) {
	t.Parallel()
	line := "-46701\t2026-11-30T09:14:03Z\tstart\toperator\ta1"
	for n := range len(line) + 1 {
		l := open(t, "46701\n")
		if err := os.WriteFile(l.Path()+ChangesSuffix, []byte("+46702\n"+line[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Refresh(morning); err != nil || !l.Has(number.Read("46701")) {
			t.Fatalf("%q: %v", line[:n], err)
		}
		if n, err := l.Add(Origin{At: morning, Source: API}, "46703"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if data, err := os.ReadFile(l.Path() + ChangesSuffix); string(data) != "+46702\n+46703\t2026-11-30T09:14:03Z\tapi\n" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
	}
}

// A full journal takes no other numbers, and those that it has can still opt out and in.
func TestFullJournal(t *testing.T) {
	t.Parallel()
	l := open(t, "# none\n")
	if n, err := l.Add(Origin{}, "46701"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	l.changes.count.Store(MaxChanges)
	if n, err := l.Add(Origin{}, "46702"); n != 0 || err == nil || !strings.Contains(err.Error(), "which is the maximum") {
		t.Error(n, err)
	}
	if n, err := l.Remove(Origin{}, "46701"); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// Beyond MaxKept fewer lines stay of each number.
func TestLinesThatFit(t *testing.T) {
	t.Parallel()
	c := newChanges("x")
	for n := range uint64(1000) {
		c.marks.numbers[10_000+n] = mark(KeptLines << 1)
	}
	for lines, want := range map[int64]int{1000 * KeptLines: KeptLines, MaxKept: KeptLines, MaxKept + 1: KeptLines / 2} {
		c.remaining = lines
		if got := c.linesThatFit(); got != want {
			t.Errorf("%d lines: %d", lines, got)
		}
	}
}

// A journal about the maximum of numbers: reading it, one history, and an export, whose memory does not grow with the list.
func TestLargeJournal(t *testing.T) {
	testutil.Long(t)
	l := open(t, "# none\n")
	f, err := os.Create(l.Path() + ChangesSuffix)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for n := range MaxChanges {
		_, _ = fmt.Fprintf(w, "+467%08d\t2026-11-30T09:14:03Z\tstop\toperator\t6392a1b0c%07x\n", n, n)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := l.Refresh(time.Now()); err != nil || l.Status().Added != MaxChanges {
		t.Fatal(l.Status(), err)
	}
	read := time.Since(began)
	began = time.Now()
	found, err := l.Look(t.Context(), "46701999999")
	if err != nil || len(found.History) != 1 {
		t.Fatal(found, err)
	}
	looked := time.Since(began)
	runtime.GC()
	before, most, n := inUse(), uint64(0), 0
	began = time.Now()
	err = l.Each(t.Context(), true, func(Change) error {
		if n++; n%500_000 == 0 {
			runtime.GC()
			most = max(most, inUse())
		}
		return nil
	})
	if err != nil || n != MaxChanges {
		t.Fatal(n, err)
	}
	if grown := int64(most) - int64(before); grown > 64<<20 {
		t.Errorf("the export takes %d octets", grown)
	}
	t.Logf("read in %v, one history in %v, export in %v, %d octets more at the most", read, looked, time.Since(began), int64(most)-int64(before))
}
