package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/events"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// submit returns the line of a message that was sent.
func submit(number uint64, account string, at time.Time) []byte {
	e := events.Event{
		Number: number, ID: number, Kind: sms.Submit, Account: account, ToConnector: "smsc1", Destination: []byte("46700000001"),
		Accepted: at.UnixNano(), Ended: at.UnixNano(),
	}
	return append(new(events.Printer).Append(nil, &e), '\n')
}

// begun returns a Counter of a new directory.
func begun(t testing.TB) *Counter {
	t.Helper()
	c, err := Open(t.TempDir(), 0, zerolog.Nop())
	if err == nil {
		err = c.Begin(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// saved counts lines and saves them.
func saved(t testing.TB, c *Counter, lines ...[]byte) {
	t.Helper()
	if err := c.Count(bytes.Join(lines, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Save(true); err != nil {
		t.Fatal(err)
	}
}

// sum returns a figure of all days.
func sum(t testing.TB, dir, figure string) int64 {
	t.Helper()
	rows, err := Read(context.Background(), dir, Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return 0
	}
	return rows[0].Figure(figure)
}

// What is no event, or only half of one, counts nothing; nor does anything fail.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	c := begun(t)
	whole := submit(1, "acme", begin)
	for i := range len(whole) - 1 {
		if err := c.Count(whole[:i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{
		"\n", "{}\n", "{\"number\":0}\n", "[1]\n", `{"number":1,"tags":["a`, `{"number":1,"tags":[}`, `{"number":x}`, `{"number":1}x`,
		`{"number" 1}`, `{"number":99999999999999999999}`, `{"number":1,"ended_at":"never"}`,
	} {
		if err := c.Count([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.days) != 0 {
		t.Errorf("%d days", len(c.days))
	}
	saved(t, c, submit(2, "acme", begin))
	if n := sum(t, c.dir, "sent"); n != 1 {
		t.Errorf("%d are sent", n)
	}
}

// If numbers begin again, days go on, and nothing of the numbers before counts.
func TestNumbersBeginAgain(t *testing.T) {
	t.Parallel()
	c := begun(t)
	saved(t, c, submit(1, "acme", begin), submit(2, "acme", begin), submit(3, "acme", begin))
	for _, last := range []uint64{0, 1} {
		again := opened(t, c.dir)
		if err := again.Begin(last); err != nil || again.Counted() != last {
			t.Fatalf("%v, counted up to %d", err, again.Counted())
		}
		saved(t, again, submit(1, "acme", begin), submit(2, "beta", begin), submit(3, "beta", begin))
	}
	if n := sum(t, c.dir, "sent"); n != 3+3+2 {
		t.Errorf("%d are sent", n)
	}
}

// A file that does not say how far events are counted is put aside. No event is counted twice, and none is left out.
func TestDamagedCounted(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"empty": "", "damaged": "{\"era\":1,\"up_", "other": "\x00\x00\x00\x00"} {
		c := begun(t)
		all := [][]byte{submit(1, "acme", begin), submit(2, "acme", begin.Add(24*time.Hour)), submit(3, "acme", begin)}
		saved(t, c, all...)
		path := filepath.Join(c.dir, countedName)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		again := opened(t, c.dir)
		if err := again.Begin(4); err != nil {
			t.Fatal(err)
		}
		saved(t, again, append(all, submit(4, "acme", begin))...)
		if n := sum(t, c.dir, "sent"); n != 4 {
			t.Errorf("%s: %d are sent", name, n)
		}
		if b, err := os.ReadFile(path + ".damaged"); err != nil || string(b) != content {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// The file of a day that is damaged is kept aside, and the day goes on. One that cannot be read now is tried again.
func TestDamagedDay(t *testing.T) {
	t.Parallel()
	c := begun(t)
	saved(t, c, submit(1, "acme", begin))
	path := pathOf(c.dir, begin.Unix()/(24*3600))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	again := opened(t, c.dir)
	if err := again.Begin(1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(context.Background(), c.dir, Query{}); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	saved(t, again, submit(2, "acme", begin), submit(3, "acme", begin))
	if n := sum(t, c.dir, "sent"); n != 2 {
		t.Errorf("%d are sent", n)
	}
	if got, err := os.ReadFile(path + ".damaged"); err != nil || !bytes.Equal(got, whole[:len(whole)/2]) {
		t.Errorf("%q, %v", got, err)
	}

	if err := os.Mkdir(pathOf(c.dir, begin.Unix()/(24*3600)+3), 0o700); err != nil {
		t.Fatal(err)
	}
	later := []byte(string(submit(4, "acme", begin.Add(72*time.Hour))) + string(submit(5, "acme", begin.Add(72*time.Hour))))
	if err := again.Count(later); err == nil || errors.Is(err, errDamaged) || again.Counted() != 3 {
		t.Errorf("%v, counted up to %d", err, again.Counted())
	}
	if err := os.Remove(pathOf(c.dir, begin.Unix()/(24*3600)+3)); err != nil {
		t.Fatal(err)
	}
	saved(t, again, later)
	if n := sum(t, c.dir, "sent"); n != 4 {
		t.Errorf("%d are sent", n)
	}
}

// A file that is whole, but not of this day or not of this version, is left as it is.
func TestForeignDay(t *testing.T) {
	t.Parallel()
	c := begun(t)
	saved(t, c, submit(1, "acme", begin))
	number := begin.Unix() / (24 * 3600)
	if err := os.Rename(pathOf(c.dir, number), pathOf(c.dir, number+1)); err != nil {
		t.Fatal(err)
	}
	before := files(t, c.dir)
	err := c.Count(submit(2, "acme", begin.AddDate(0, 0, 1)))
	if err == nil || errors.Is(err, errDamaged) || c.Counted() != 1 {
		t.Errorf("%v, counted up to %d", err, c.Counted())
	}
	if after := files(t, c.dir); !maps.Equal(after, before) {
		t.Error("files have changed")
	}
}

// Events of more days than stay in memory are counted, whatever was saved meanwhile, and each day in its file.
func TestManyDays(t *testing.T) {
	t.Parallel()
	c, number := begun(t), uint64(0)
	const days = 3 * openDays
	for round := range 3 {
		for accepted := range days {
			number++
			at := begin.AddDate(0, 0, days)
			e := events.Event{
				Number: number, Kind: sms.Submit, Account: "acme", ToConnector: "smsc1", Ended: at.UnixNano(),
				Accepted: at.AddDate(0, 0, -accepted).UnixNano(),
			}
			if err := c.Count(append(new(events.Printer).Append(nil, &e), '\n')); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Save(accepted%(round+2) == 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	saved(t, c)
	if a, b := sum(t, c.dir, "accepted"), sum(t, c.dir, "sent"); a != 3*days || b != 3*days {
		t.Errorf("%d accepted and %d sent of %d", a, b, 3*days)
	}
	if len(c.days) > openDays {
		t.Errorf("%d days stay in memory", len(c.days))
	}
}

// A day has no more rows than fit.
func TestManyRows(t *testing.T) {
	t.Parallel()
	d := &day{rows: map[key]*Counts{}, most: 100}
	for n := range d.most + 5 {
		d.row(key{hour: 1, account: fmt.Sprint(n)}).figures[sent]++
	}
	if len(d.rows) != d.most+1 || d.rows[key{hour: 1, account: others}].figures[sent] != 5 {
		t.Errorf("%d rows, others %v", len(d.rows), d.rows[key{hour: 1, account: others}])
	}
}

// Old days are removed, and only days.
func TestSweep(t *testing.T) {
	t.Parallel()
	c := begun(t)
	c.keepDays = 30
	today := time.Now().Unix() / (24 * 3600)
	for n, ago := range []int64{0, 29, 30, 31, 400} {
		saved(t, c, submit(uint64(n+1), "acme", time.Unix((today-ago)*24*3600+3600, 0)))
	}
	for _, other := range []string{"notes.zst", "2020-01-01.txt", "2020-13-01.zst"} {
		if err := os.WriteFile(filepath.Join(c.dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.swept = 0
	c.sweep(today)
	if n := sum(t, c.dir, "sent"); n != 3 {
		t.Errorf("%d are left", n)
	}
	if all := files(t, c.dir); len(all) != 3+1+3 {
		t.Errorf("%d files", len(all))
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	c := begun(t)
	number, lines := uint64(0), [][]byte(nil)
	for days := range 40 {
		for _, account := range []string{"acme", "beta", "beta"} {
			number++
			lines = append(lines, submit(number, account, begin.AddDate(0, 0, days)))
		}
	}
	saved(t, c, lines...)
	day := func(text string) time.Time {
		at, err := time.Parse(dayLayout, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, q := range []struct {
		Query
		want string
	}{
		{Query{}, " 120"},
		{Query{Account: "acme"}, " 40"},
		{Query{Account: "none"}, ""},
		{Query{Connector: "smsc1"}, " 120"},
		{Query{Connector: "smsc2"}, ""},
		{Query{Network: "24001"}, ""},
		{Query{By: []string{"account"}}, "acme 40,beta 80"},
		{Query{By: []string{"month", "account"}, Account: "beta"}, "2026-11 beta 10,2026-12 beta 62,2027-01 beta 8"},
		{Query{By: []string{"hour"}, From: day("2026-11-27"), To: day("2026-11-28")}, "2026-11-27T20 3,2026-11-28T20 3"},
		{Query{By: []string{"day"}, From: day("2027-01-04")}, "2027-01-04 3"},
		{Query{By: []string{"connector", "network"}, To: day("2026-11-26")}, "smsc1  3"},
	} {
		rows, err := Read(t.Context(), c.dir, q.Query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(strings.Join(r.Values, " "), " ", r.Figure("sent")))
		}
		if strings.Join(got, ",") != q.want {
			t.Errorf("%+v: %q, want %q", q.Query, got, q.want)
		}
	}
	for _, q := range []Query{{By: []string{"color"}}, {By: []string{"day", "day"}}, {From: begin, To: begin.AddDate(0, 0, -1)}} {
		if _, err := Read(t.Context(), c.dir, q); err == nil {
			t.Errorf("%+v is taken", q)
		}
	}
}

// Files are written as events are, and what a rebuild makes of them is the same. A rebuild of events whose beginning is gone leaves
// the days before alone.
func TestRebuild(t *testing.T) {
	t.Parallel()
	r, c, dir := rand.New(rand.NewPCG(1, 2)), begun(t), t.TempDir()
	var lines [][]byte
	for n := range uint64(25_000) { // two days
		lines = append(lines, made(r, n+1))
	}
	saved(t, c, lines...)
	want := read(t, c.dir)
	for i, part := range [][][]byte{lines[:9_000], lines[9_000:9_001], lines[9_001:]} {
		name := []string{"events-20261127T000000.000001.log", "events-20261127T000000.000002.log", "events.log"}[i]
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(part, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quiet := func(int64, string) {}
	fresh := t.TempDir()
	done, err := Rebuild(t.Context(), []string{dir}, fresh, time.Time{}, quiet)
	if err != nil || done.Events != 25_000 || done.Replaced != "" {
		t.Fatalf("%+v, %v", done, err)
	}
	same(t, "a new directory", read(t, fresh), want)
	if again := opened(t, fresh); again.Begin(25_000) != nil || again.Counted() != 25_000 {
		t.Errorf("counted up to %d", again.Counted())
	}

	if err := os.Remove(filepath.Join(dir, "events-20261127T000000.000001.log")); err != nil {
		t.Fatal(err)
	}
	if done, err = Rebuild(t.Context(), []string{dir}, c.dir, time.Time{}, quiet); err != nil || done.From != "2026-11-28" {
		t.Fatalf("%+v, %v", done, err)
	}
	same(t, "the days before", read(t, c.dir), expectedFrom(t, want, lines))
	if done.Replaced == "" {
		t.Error("nothing is kept of the days before")
	}
	lock, err := events.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := Rebuild(t.Context(), []string{dir}, c.dir, time.Time{}, quiet); err == nil {
		t.Error("a gateway writes, and a rebuild goes on")
	}
}

// Of the events of several nodes, each counts once, though the end of one's work stands in the files of two.
func TestRebuildOfNodes(t *testing.T) {
	t.Parallel()
	r, c := rand.New(rand.NewPCG(1, 2)), begun(t)
	var lines [][]byte
	for n := range uint64(1000) {
		lines = append(lines, made(r, n+1))
	}
	saved(t, c, lines...)
	var dirs []string
	for _, parts := range [][][2]int{{{0, 300}, {650, 701}}, {{299, 500}, {700, 1000}}, {{450, 651}}, {}} {
		dir := t.TempDir()
		dirs = append(dirs, dir)
		for i, p := range parts {
			name := []string{"events-20261127T000000.000001.log", "events.log"}[i]
			if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(lines[p[0]:p[1]], nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := t.TempDir()
	done, err := Rebuild(t.Context(), dirs, to, time.Time{}, func(int64, string) {})
	if err != nil || done.Events != 1000 {
		t.Fatalf("%+v, %v", done, err)
	}
	same(t, "the nodes together", read(t, to), read(t, c.dir))
	if _, err := Rebuild(t.Context(), append(dirs, filepath.Join(to, "none")), to, time.Time{}, func(int64, string) {}); err == nil {
		t.Error("a directory is missing, and it is not said")
	}
}

// expectedFrom returns what was counted before, but that days from 2026-11-28 on have only what the files still have.
func expectedFrom(t *testing.T, before map[string]int64, lines [][]byte) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for name, n := range before {
		if name < "2026-11-28" {
			all[name] = n
		}
	}
	for name, n := range expected(t, lines[9_000:]) {
		if name >= "2026-11-28" {
			all[name] = n
		}
	}
	return all
}

func TestCountAllocations(t *testing.T) {
	if testutil.Race {
		t.Skip("the race detector allocates")
	}
	c := begun(t)
	var lines []byte
	for n := range uint64(1000) {
		lines = append(lines, submit(n+1, "acme", begin)...)
	}
	if err := c.Count(lines); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() {
		c.counted.UpTo = 0
		if err := c.Count(lines); err != nil {
			t.Fatal(err)
		}
	}); n > 10 {
		t.Errorf("%v allocations for 1000 events", n)
	}
}

func BenchmarkCount(b *testing.B) {
	c, r := begun(b), rand.New(rand.NewPCG(1, 2))
	var lines []byte
	for n := range uint64(1000) {
		lines = append(lines, made(r, n+1)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.counted.UpTo = 0
		if err := c.Count(lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}

var errFull = errors.New("the disk is full")

// What cannot be opened, read or saved is an error that says where.
func TestErrors(t *testing.T) {
	t.Parallel()
	c := begun(t)
	path := filepath.Join(c.dir, countedName)
	if err := errors.Join(os.WriteFile(path, []byte("{"), 0o600), os.MkdirAll(path+".damaged/x", 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c.dir, 0, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), c.dir) || !strings.Contains(err.Error(), "pmg stats rebuild") {
		t.Errorf("%v", err)
	}
	if _, err := Read(t.Context(), filepath.Join(c.dir, "none"), Query{}); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot read the statistics in ") {
		t.Errorf("%v", err)
	}
	saved(t, c, submit(1, "acme", begin))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, c.dir, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Where the numbers have begun again, those of before are not counted once more when the file that says how far is damaged.
func TestDamagedCountedLater(t *testing.T) {
	t.Parallel()
	c := begun(t)
	saved(t, c, submit(1, "acme", begin), submit(2, "acme", begin), submit(3, "acme", begin))
	again := opened(t, c.dir)
	if err := again.Begin(0); err != nil {
		t.Fatal(err)
	}
	saved(t, again, submit(1, "beta", begin), submit(2, "beta", begin.AddDate(0, 0, 1)))
	if err := os.WriteFile(filepath.Join(c.dir, countedName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := opened(t, c.dir).Counted(); n != 2 {
		t.Errorf("counted up to %d", n)
	}
}

// Where a day cannot be saved, what is counted is not said to be: a start counts its events again.
func TestDayNotSaved(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if err := c.Count(submit(1, "acme", begin)); err != nil {
		t.Fatal(err)
	}
	path := pathOf(c.dir, begin.Unix()/(24*3600))
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Save(true); err == nil || !strings.HasPrefix(err.Error(), "cannot save the statistics of 2026-11-26: ") {
		t.Errorf("%v", err)
	}
	if n := opened(t, c.dir).Counted(); n != 0 {
		t.Errorf("counted up to %d", n)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Save(true); err != nil || sum(t, c.dir, "sent") != 1 || opened(t, c.dir).Counted() != 1 {
		t.Errorf("%v, %d are saved", err, sum(t, c.dir, "sent"))
	}
}

// A row whose hour is none of a day, or whose figure is not known, is an error.
func TestRecords(t *testing.T) {
	t.Parallel()
	for hour, want := range map[int]bool{-1: false, 0: true, 23: true, 24: false} {
		if k, _, err := (&record{Hour: hour}).row(2); (err == nil) != want || want && k.hour != 48+int64(hour) {
			t.Errorf("hour %d: %+v, %v", hour, k, err)
		}
	}
	if _, _, err := (&record{Counts: map[string]int64{"lost": 1}}).row(2); err == nil {
		t.Error("a figure that is not known is read")
	}
}

// What was counted is saved only from time to time, unless it must be saved now. What cannot be saved is saved later.
func TestSave(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if err := c.Count(submit(1, "acme", begin)); err != nil {
		t.Fatal(err)
	}
	if at, err := c.Save(false); err != nil || !at.IsZero() {
		t.Errorf("the first: again at %v, %v", at, err)
	}
	if err := c.Count(submit(2, "acme", begin)); err != nil {
		t.Fatal(err)
	}
	at, err := c.Save(false)
	if err != nil || at.IsZero() || sum(t, c.dir, "sent") != 1 {
		t.Errorf("too soon: again at %v, %v, %d are saved", at, err, sum(t, c.dir, "sent"))
	}
	moved := c.dir + "-moved"
	if err := os.Rename(c.dir, moved); err != nil {
		t.Fatal(err)
	}
	if at, err := c.Save(true); err == nil || at.IsZero() {
		t.Errorf("no directory: again at %v, %v", at, err)
	}
	if err := os.Rename(moved, c.dir); err != nil {
		t.Fatal(err)
	}
	if at, err := c.Save(true); err != nil || !at.IsZero() || sum(t, c.dir, "sent") != 2 {
		t.Errorf("again at %v, %v, %d are saved", at, err, sum(t, c.dir, "sent"))
	}
}

// A rebuild counts events whose numbers begin again, and says how far it is only where there are many.
func TestRebuildNumbersBeginAgain(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), t.TempDir()
	for name, numbers := range map[string]int{"events-20261127T000000.000001.log": 5, "events.log": 3} {
		lines := []byte("what another program has written\n")
		for n := range numbers {
			lines = append(lines, submit(uint64(n+1), "acme", begin)...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := Rebuild(t.Context(), []string{dir}, to, time.Time{}, func(n int64, day string) { t.Errorf("progress: %d, %s", n, day) })
	if err != nil || done.Events != 8 || done.From != "2026-11-26" || done.To != "2026-11-26" {
		t.Fatalf("%+v, %v", done, err)
	}
	if n := sum(t, to, "sent"); n != 8 {
		t.Errorf("%d are sent", n)
	}
	if n := opened(t, to).Counted(); n != 3 {
		t.Errorf("counted up to %d", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rebuild(ctx, []string{dir}, to, time.Time{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := sum(t, to, "sent"); n != 8 {
		t.Errorf("%d are sent after a rebuild that was given up", n)
	}
}
