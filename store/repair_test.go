package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

var aMoment = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A check counts what is in a store, whether it was closed or not.
func TestCheck(t *testing.T) {
	t.Parallel()
	fs, want := usedStore(t, 0)
	r, err := check(fs, "data")
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages != int64(len(want.messages)) || r.Mappings != int64(len(want.mapped)) || r.Events != int64(len(want.events)) ||
		r.Format != formatVersion || len(r.Faults) > 0 || r.First == 0 || r.Last < r.First {
		t.Errorf("%+v", r)
	}
	s := open(t, fs)
	if d := want.differs(s); d != "" {
		t.Error(d)
	}
	if _, err := check(fs, "data"); !errors.Is(err, ErrLocked) {
		t.Errorf("a store in use is checked: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A table that the manifest names and that is gone is named by a repair.
func TestRepairTableGone(t *testing.T) {
	t.Parallel()
	fs, _ := usedStore(t, 0)
	s := open(t, fs)
	if err := s.Close(); err != nil { // so that there is a table
		t.Fatal(err)
	}
	names, err := fs.List("data")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names, isTable)
	if i < 0 {
		t.Fatalf("no table is among %q", names)
	}
	if err := fs.Remove("data/" + names[i]); err != nil {
		t.Fatal(err)
	}
	_, r, err := repair(fs, "data", aMoment)
	number, _, _ := strings.Cut(names[i], ".")
	if err != nil || len(r.Faults) == 0 || !strings.Contains(r.Faults[0], number) {
		t.Errorf("%s is gone: %q, %v", names[i], r.Faults, err)
	}
}

// A store without damage is whole after its repair, and the old one is still there.
func TestRepairWhole(t *testing.T) {
	t.Parallel()
	fs, want := usedStore(t, 0)
	aside, r, err := repair(fs, "data", aMoment)
	if err != nil {
		t.Fatal(err)
	}
	if aside != "data.damaged-20261121T120000" || r.Messages != int64(len(want.messages)) { // a table may be half written
		t.Errorf("%s %+v", aside, r)
	}
	for _, dir := range []string{"data", aside} {
		s, err := Open(dir, Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		if d := want.differs(s); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A repair survives a power cut right behind it.
func TestRepairThenPowerCut(t *testing.T) {
	t.Parallel()
	fs := vfs.NewCrashableMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	aside, _, err := repair(fs, "data", aMoment)
	if err != nil {
		t.Fatal(err)
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	for _, dir := range []string{"data", aside} {
		s, err := Open(dir, Options{FS: crashed})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := entries(t, s, 0, 10); len(got) != 1 {
			t.Errorf("%s has %q", dir, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := crashed.Stat("data.repaired"); err == nil {
		t.Error("the repaired store has its first name as well")
	}
}

// After the repair of a damaged store nothing in it is wrong, nothing came back, and little
// is missing.
func TestRepairDamaged(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	used, want := usedStore(t, 0)
	eachSeed(t, damageSeeds/4, func(t *testing.T, seed uint64) {
		fs := vfs.NewMem()
		if _, err := vfs.Clone(used, fs, "data", "data"); err != nil {
			t.Fatal(err)
		}
		file, how := damage(t, rand.New(rand.NewPCG(seed, 2)), fs)
		if _, _, err := repair(fs, "data", aMoment); err != nil {
			t.Fatalf("seed %d: %s %s: %v", seed, how, file, err)
		}
		s, err := Open("data", Options{FS: fs})
		if err != nil {
			t.Fatalf("seed %d: %s %s: %v", seed, how, file, err)
		}
		defer s.Close()
		var all []uint64
		if err := readAll(s, func(e *Entry) error {
			all = append(all, e.ID)
			text, err := textOf(e)
			text, _, _ = strings.Cut(text, " (")
			if old, _, _ := strings.Cut(want.messages[e.ID], " ("); err == nil && old != text && old != "" &&
				!strings.HasPrefix(file, journalDir) && !(strings.HasSuffix(file, ".sst") && strings.HasPrefix(text, fmt.Sprint(e.ID, " "))) {
				// of a journal that was cut the last changes of a message may be lost, and of a table what has replaced a text
				err = fmt.Errorf("message %d is %.60q, not %.60q", e.ID, text, old)
			}
			return err
		}); err != nil {
			t.Errorf("seed %d: %s %s: %v", seed, how, file, err)
		}
		missing := 0
		for id := range want.messages {
			if !slices.Contains(all, id) {
				missing++
			}
		}
		back := len(all) + missing - len(want.messages)
		if missing > 0 || back > 0 {
			t.Logf("seed %d: %s %s: %d of %d messages missing, %d came back", seed, how, file, missing, len(want.messages), back)
		}
	})
}

// Damage in the journal costs the messages whose records it is in, and not what is behind.
func TestRepairJournal(t *testing.T) {
	t.Parallel()
	used := vfs.NewCrashableMem()
	s := open(t, used)
	const messages = 1000
	for id := range uint64(messages) {
		commit(t, s, func(b *Batch) { b.Put(sample(1+id, strings.Repeat("text", 50)), sampleLane) })
	}
	fs := used.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("data/" + journalDir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	path := "data/" + journalDir + "/" + names[0]
	text, err := readFile(fs, path)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte(text)
	b[messages*150] ^= 1 // a record has at least 200 octets
	writeFile(t, fs, path, b)
	if _, err := Open("data", Options{FS: fs}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("it is opened: %v", err)
	}
	if _, err := check(fs, "data"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("it is whole: %v", err)
	}
	_, r, err := repair(fs, "data", aMoment)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages != messages-1 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], names[0]) {
		t.Errorf("%+v", r)
	}
}

// Damage in a table costs what is in the same block of it, not what is on either side, and is
// reported.
func TestRepairTable(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	const messages = 1000
	for id := range uint64(messages) {
		commit(t, s, func(b *Batch) { b.Put(sample(1+id, fmt.Sprint(strings.Repeat("text", 50), id)), sampleLane) })
	}
	if err := s.(*durable).db.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("data")
	if err == nil {
		err = fs.RemoveAll("data/" + journalDir) // it has the messages as well
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open("data", Options{FS: fs}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), journalDir) {
		t.Errorf("the journal is missing: %v", err)
	}
	table := ""
	for _, name := range names {
		if name == journalDir {
			continue
		}
		text, err := readFile(fs, "data/"+name)
		if err != nil {
			t.Fatal(err)
		}
		switch b := []byte(text); {
		case isTable(name) && len(b) > messages: // the other has the format alone
			table = name
			b[len(b)/2] ^= 1
			writeFile(t, fs, "data/"+name, b)
		}
	}
	_, r, err := repair(fs, "data", aMoment)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages < messages*9/10 || r.Messages == messages || r.First != 1 || r.Last != messages {
		t.Errorf("%+v", r)
	}
	if len(r.Faults) != 2 || !strings.HasPrefix(r.Faults[0], table+": ") || !strings.Contains(r.Faults[1], journalDir) {
		t.Errorf("%s is damaged, there is no journal, and the faults are %q", table, r.Faults)
	}
}

// A store of a later version is refused in plain words, and left alone.
func TestNewer(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	d := s.(*durable)
	setEntry(t, d, []byte{keyFormat}, []byte{0, 0, 0, formatVersion + 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("data", Options{FS: fs}); !errors.Is(err, ErrNewer) || errors.Is(err, ErrDamaged) {
		t.Errorf("opened: %v", err)
	}
	if _, err := check(fs, "data"); !errors.Is(err, ErrNewer) {
		t.Errorf("checked: %v", err)
	}
	if _, _, err := repair(fs, "data", aMoment); !errors.Is(err, ErrNewer) {
		t.Errorf("repaired: %v", err)
	}
	if names, err := fs.List("data"); err != nil || len(names) == 0 {
		t.Errorf("what is left of it: %v %v", names, err)
	}
}

// A backup is a store of its own, taken while the store is in use.
func TestBackup(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 3, Options{})
	for range 30 {
		h.step()
	}
	if err := h.store.Backup("copy"); err != nil {
		t.Fatal(err)
	}
	if err := h.store.Backup("copy"); err == nil || !strings.Contains(err.Error(), "copy") {
		t.Errorf("a backup is made in the place of another one: %v", err)
	}
	if err := NewMemory().Backup("copy"); err == nil {
		t.Error("a store in memory has a backup")
	}
	want := h.model.clone()
	for range 10 {
		h.step()
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open("copy", Options{FS: h.fs})
	if err != nil {
		t.Fatal(err)
	}
	if d := want.differs(s); d != "" {
		t.Error(d)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
