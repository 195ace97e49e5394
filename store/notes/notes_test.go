package notes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A rig is notes in a database in memory, and what they must be.
type rig struct {
	t    *testing.T
	fs   *vfs.MemFS
	db   *pebble.DB
	n    *Notes
	want map[string]string // value by "<day> <kind>\0<key>"
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, fs: vfs.NewMem(), want: map[string]string{}}
	if err := r.fs.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	r.open()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	o := &pebble.Options{FS: r.fs, FormatMajorVersion: pebble.FormatValueSeparation, DisableWAL: true, Logger: quiet{}}
	var err error
	if r.db, err = pebble.Open("data", o); err != nil {
		r.t.Fatal(err)
	}
	if r.n, err = Open(r.db, o, "data", 0, 3, func(err error) error { return err }); err != nil {
		r.t.Fatal(err)
	}
}

// reopen writes everything, and opens the notes again.
func (r *rig) reopen() {
	r.t.Helper()
	r.write() // what was frozen before
	r.write()
	r.ok(r.db.Flush())
	r.ok(r.db.Close())
	r.open()
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// change carries out a change in a batch.
func (r *rig) change(f func(to *pebble.Batch) error) {
	r.t.Helper()
	b := r.db.NewBatch()
	r.ok(f(b))
	r.ok(r.db.Apply(b, pebble.NoSync))
}

func (r *rig) put(day uint32, key, value string) {
	r.t.Helper()
	r.change(func(to *pebble.Batch) error { return r.n.Put(to, day, []byte(key), []byte(value)) })
	r.want[placeOf(day, key)] = value
}

func (r *rig) remove(day uint32, key string) {
	r.t.Helper()
	r.change(func(to *pebble.Batch) error { return r.n.Remove(to, day, []byte(key)) })
	delete(r.want, placeOf(day, key))
}

func (r *rig) forget(before uint32) {
	r.t.Helper()
	r.change(func(to *pebble.Batch) error { return r.n.Forget(to, before) })
	maps.DeleteFunc(r.want, func(place, _ string) bool { return dayOf(place) < before })
}

func (r *rig) write() {
	r.t.Helper()
	r.n.Freeze(1)
	r.ok(r.n.WriteFrozen())
}

func placeOf(day uint32, key string) string { return fmt.Sprintf("%010d %s", day, key) }

func dayOf(place string) (day uint32) {
	_, _ = fmt.Sscanf(place, "%010d", &day)
	return day
}

// check compares all notes, and look-ups of all keys and of some that nobody has put.
func (r *rig) check(when string) {
	r.t.Helper()
	got := map[string]string{}
	view := r.n.View()
	defer view.Close()
	for _, day := range view.Days() {
		last := ""
		r.ok(view.Each(day, nil, func(key, value []byte) error {
			if last >= string(key) {
				r.t.Fatalf("%s: day %d: %q is behind %q", when, day, key, last)
			}
			last = string(key)
			got[placeOf(day, last)] = string(value)
			return nil
		}))
	}
	if !maps.Equal(got, r.want) {
		r.t.Fatalf("%s: notes are\n%q, not\n%q", when, got, r.want)
	}
	for place, want := range r.want {
		_, key, _ := strings.Cut(place, " ")
		if value, ok, err := r.n.Get(dayOf(place), []byte(key)); !ok || string(value) != want || err != nil {
			r.t.Fatalf("%s: %q is %q, %v, %v, not %q", when, place, value, ok, err, want)
		}
		if _, ok, err := r.n.Get(dayOf(place), []byte(key+"?")); ok || err != nil {
			r.t.Fatalf("%s: %q?: %v, %v", when, place, ok, err)
		}
	}
	latest := map[string]string{"north\x00nobody": "", "none\x00": ""}
	for _, place := range slices.Sorted(maps.Keys(r.want)) {
		_, key, _ := strings.Cut(place, " ")
		latest[key] = r.want[place]
	}
	for key, want := range latest {
		value, ok, err := r.n.Lookup([]byte(key))
		if known := slices.ContainsFunc(slices.Collect(maps.Keys(r.want)), func(p string) bool { return strings.HasSuffix(p, " "+key) }); err != nil ||
			ok != known || string(value) != want {
			r.t.Fatalf("%s: %q is %q, %v, %v, not %q", when, key, value, ok, err, want)
		}
	}
}

// Whatever is put, removed, forgotten, written and merged, in whatever order: the notes are those of a map.
func TestAgainstMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random, r := rand.New(rand.NewPCG(seed, 0)), newRig(t)
			first, days := uint32(100), map[string]uint32{}
			for step := range 150 {
				day := first + random.Uint32N(3)
				key := fmt.Sprintf("%s\x00%d", []string{"north", "south", ".ended"}[random.IntN(3)], random.IntN(20))
				if random.IntN(10) == 0 { // notes that stay have kinds of their own
					day, key = Forever, "."+key
				}
				day = max(day, days[key]) // a key is never stored for an earlier day than before
				switch random.IntN(20) {
				default:
					days[key] = day
					r.put(day, key, strings.Repeat("v", random.IntN(4))+fmt.Sprint(step))
				case 0, 1, 2:
					r.remove(day, key)
				case 3, 4, 5:
					r.write()
				case 6:
					r.n.Freeze(1)
				case 7:
					if random.IntN(4) == 0 {
						first++
						r.forget(first)
					}
				case 8:
					r.write()
					r.ok(r.n.MergeAll(t.Context()))
				case 9:
					r.reopen()
				}
				r.check(fmt.Sprint("step ", step))
			}
		})
	}
}

// Pebble takes each table to its lowest level as it is, and never compacts it. Merged tables and forgotten ones are gone.
func TestTables(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	files := func() (lowest, others int64) {
		for level, m := range r.db.Metrics().Levels {
			if level == lowestLevel {
				lowest += m.TablesCount
			} else {
				others += m.TablesCount
			}
		}
		return lowest, others
	}
	for i := range 2 {
		for k := range 100 {
			r.put(7, fmt.Sprintf("north\x00%d", (k*7919+i*31)%1000), "value")
		}
		r.write()
	}
	if lowest, others := files(); lowest != 2 || others != 0 {
		t.Errorf("%d files in the lowest level, %d in others", lowest, others)
	}
	r.put(8, "north\x00other day", "value")
	r.put(7, "north\x00last", "value")
	r.write() // the third of day 7: all three become one
	r.ok(r.db.Flush())
	r.check("merged")
	if n := len(r.n.tables); n != 2 {
		t.Errorf("%d tables", n)
	}
	r.forget(8)
	r.ok(r.db.Flush())
	r.ok(r.db.Compact(t.Context(), []byte{Timed}, []byte{Timed + 1}, false))
	if lowest, others := files(); lowest != 1 || others != 0 {
		t.Errorf("%d files in the lowest level, %d in others, behind the end of a day", lowest, others)
	}
	r.check("forgotten")
}

// Files that an interrupted run has left, and tables that were replaced, are gone after a start.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(7, "north\x00a", "old")
	r.put(7, "north\x00b", "stays")
	r.write()
	r.put(7, "north\x00a", "new")
	r.write()
	r.ok(r.db.Set(append(table{day: 7, number: 13}.prefix(), "north\x00a"...), []byte("\x00new"), pebble.NoSync)) // number 12, replaces the small ones
	r.ok(r.db.Set(append(table{day: 7, number: 13}.prefix(), "north\x00b"...), []byte("\x00stays"), pebble.NoSync))
	f, err := r.fs.Create("data/"+temporary+"5", vfs.WriteCategoryUnspecified)
	r.ok(err)
	r.ok(f.Close())
	r.reopen()
	if len(r.n.tables) != 1 || r.n.tables[0].number != 13 {
		t.Errorf("tables %v", r.n.tables)
	}
	r.check("after the start")
	names, err := r.fs.List("data")
	r.ok(err)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, temporary) }); i >= 0 {
		t.Errorf("%s is still there", names[i])
	}
}

// Of sorted tables those are replaced that a later one of their day stands for.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ numbers, replaced []uint32 }{
		{[]uint32{4, 8, 12}, nil},
		{[]uint32{4, 8, 13}, []uint32{4, 8}},
		{[]uint32{5, 8, 13, 16}, []uint32{8}},
		{[]uint32{5, 8, 14, 16}, []uint32{5, 8}},
		{[]uint32{4, 9, 14, 17}, []uint32{4, 9}},
		{[]uint32{4, 10, 14}, []uint32{4, 10}},
	} {
		var all []table
		for _, number := range c.numbers {
			all = append(all, table{day: 7, number: number})
		}
		_, replaced := divide(append([]table{{day: 6, number: 4}}, append(all, table{day: 8, number: 4})...))
		var got []uint32
		for _, t := range replaced {
			got = append(got, t.number)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.replaced) {
			t.Errorf("%v: %v", c.numbers, got)
		}
	}
}

// A disk that fails loses no note: they stay in memory, and the next attempt writes them.
func TestFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	broken := errors.New("broken")
	r.n.fs = failing{r.fs, broken}
	r.put(7, "north\x00a", "value")
	r.n.Freeze(5)
	if err := r.n.WriteFrozen(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if r.n.Freeze(6) {
		t.Error("frozen again, before the notes were written")
	}
	if at := r.n.Written(6); at != 0 {
		t.Errorf("written up to %d", at)
	}
	r.check("failed")
	r.n.fs = r.fs
	r.ok(r.n.WriteFrozen())
	if at := r.n.Written(5); at != 5 {
		t.Errorf("written up to %d", at)
	}
	r.check("written")
}

// The place up to which the notes are in tables never falls, whatever place the caller of Freeze has read before: the journal
// may have been trimmed up to the highest.
func TestWrittenNeverFalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if at := r.n.Written(12); at != 12 {
		t.Errorf("written up to %d", at)
	}
	r.n.Freeze(10)
	if at := r.n.Written(11); at != 12 {
		t.Errorf("written up to %d behind an earlier place", at)
	}
	r.put(7, "north\x00a", "value")
	r.n.Freeze(10)
	r.ok(r.n.WriteFrozen())
	r.put(7, "north\x00b", "value")
	if at := r.n.Written(13); at != 12 {
		t.Errorf("written up to %d, when a table was written for an earlier place", at)
	}
}

// While merges are stopped, tables are written, and not merged.
func TestStopMerges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.n.StopMerges()
	for i := range 5 {
		r.put(7, fmt.Sprintf("north\x00%d", i), "value")
		r.write()
	}
	if len(r.n.tables) != 5 {
		t.Errorf("%d tables", len(r.n.tables))
	}
	if err := r.n.MergeAll(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("%v", err)
	}
	r.check("stopped")
	r.n.AllowMerges()
	r.ok(r.n.WriteFrozen())
	if len(r.n.tables) != 1 {
		t.Errorf("%d tables", len(r.n.tables))
	}
	r.check("merged")
}

// A failing is a file system in which no file can be made.
type failing struct {
	vfs.FS
	err error
}

func (f failing) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, f.err }

// The notes in memory are sorted by their keys as octets, whatever they have in common.
func TestSort(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 0))
	r := NewRecent()
	var want [][]byte
	for _, kind := range []string{"north", "north2", ".ended", "n"} {
		for range 500 {
			key := []byte(kind + "\x00" + strings.Repeat("0", random.IntN(12)) + strings.Repeat("a", random.IntN(3)))
			key = append(key, fmt.Sprint(random.IntN(1_000_000))...)
			r.Put(1, key, nil)
			want = append(want, key)
		}
	}
	r.Put(2, []byte("n\x00other day"), nil)
	slices.SortFunc(want, bytes.Compare)
	want = slices.CompactFunc(want, bytes.Equal)
	list := r.sort(1, nil, nil)
	got := make([][]byte, 0, len(want))
	for _, i := range list.all {
		got = append(got, r.keyOf(&r.entries[i]))
	}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%d keys, not in the order of %d", len(got), len(want))
	}
	from, to := want[100], want[200]
	if list := r.sort(1, from, to); len(list.all) != 100 || !bytes.Equal(r.keyOf(&r.entries[list.all[0]]), from) {
		t.Errorf("%d keys between two", len(list.all))
	}
	if c := cmp.Compare(len(r.sort(2, nil, nil).all), 1); c != 0 {
		t.Error("the note of the other day is not alone")
	}
}

// A note in memory costs no allocation but those of the chunks.
func TestAllocations(t *testing.T) {
	r := NewRecent()
	key, n := []byte("north\x0000000000"), 0
	put := func() {
		n++
		copy(key[6:], fmt.Appendf(nil, "%08d", n%1000))
		r.Put(7, key, key)
	}
	for range 1000 {
		put()
	}
	if allocations := testing.AllocsPerRun(1000, func() { r.Put(7, key, key) }); allocations > 0.1 {
		t.Errorf("%v allocations", allocations)
	}
}

// Notes that are only in memory make room: the oldest half goes, but not what stays for good or was replaced lately.
func TestInMemory(t *testing.T) {
	t.Parallel()
	n := InMemory(100)
	put := func(day uint32, key, value string) {
		if err := n.Put(nil, day, []byte(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(when, key, want string) {
		t.Helper()
		if value, ok, err := n.Lookup([]byte(key)); string(value) != want || ok != (want != "") || err != nil {
			t.Errorf("%s: %q is %q, %v, %v, not %q", when, key, value, ok, err, want)
		}
	}
	put(Forever, "money\x00acme", "5")
	put(7, "north\x00old", "1")
	put(7, "north\x00again", "1")
	for i := range 60 {
		put(7, fmt.Sprintf("north\x00%d", i), "value")
	}
	put(8, "north\x00again", "2")
	has("half", "north\x00old", "1")
	for i := range 50 {
		put(8, fmt.Sprintf("south\x00%d", i), "value")
	}
	has("full", "north\x00old", "")
	has("full", "north\x00again", "2")
	has("full", "money\x00acme", "5")
	has("full", "south\x003", "value")
	if err := errors.Join(n.Remove(nil, 8, []byte("north\x00again")), n.Forget(nil, 8)); err != nil {
		t.Error(err)
	}
	has("forgotten", "north\x0059", "")
	has("forgotten", "north\x00again", "")
	has("forgotten", "south\x0049", "value")
	has("forgotten", "money\x00acme", "5")
	for i := range 3_000_000 {
		put(Forever, "money\x00acme", fmt.Sprintf("an amount that is %d", 1+i))
	}
	if octets := n.Octets(); octets > mostOctets {
		t.Errorf("%d octets for what was replaced", octets)
	}
	has("replaced", "south\x0049", "value")
	has("replaced", "money\x00acme", "an amount that is 3000000")
}

// A quiet is a log of pebble that nobody reads.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// The table behind a full one has room for as many notes, and the one behind that only for as many as came.
func TestNextTable(t *testing.T) {
	t.Parallel()
	full := NewRecent()
	for i := range 100_000 {
		full.Put(1, fmt.Appendf(nil, "k\x00%d", i), []byte("v"))
	}
	next := full.next()
	if len(next.slots) != len(full.slots) || cap(next.entries) < 100_000 || next.Len() != 0 {
		t.Errorf("%d slots behind %d, room for %d", len(next.slots), len(full.slots), cap(next.entries))
	}
	if next.Put(1, []byte("k\x001"), []byte("v")); len(next.next().slots) != leastSlots || cap(next.next().entries) > 10 {
		t.Errorf("%d slots behind a table of one note", len(next.next().slots))
	}
	if v, _, ok := next.Get(1, []byte("k\x001")); !ok || string(v) != "v" {
		t.Errorf("the note is %q, %v", v, ok)
	}
}
