package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// open opens a durable store on a file system in memory, and closes it with the test.
func open(t testing.TB, fs vfs.FS) Store {
	t.Helper()
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// engines runs a test with both engines.
func engines(t *testing.T, f func(*testing.T, Store)) {
	for _, engine := range []string{"memory", "pebble"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := NewMemory()
			if engine == "pebble" {
				s = open(t, vfs.NewMem())
			}
			f(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func commit(t testing.TB, s Store, fill func(*Batch)) {
	t.Helper()
	var b Batch
	fill(&b)
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
}

// entries returns the text of all messages, and the reason of their states.
func entries(t testing.TB, s Store, from uint64, limit int) (all []string, next uint64) {
	t.Helper()
	next, err := s.Scan(from, limit, func(e *Entry) error {
		all = append(all, describe(t, e))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, next
}

func describe(t testing.TB, e *Entry) string {
	t.Helper()
	text, err := textOf(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A message that is put aside is in the store, with its reason, until it is deleted. Those that
// wait in a lane are only in a durable store.
func TestMessages(t *testing.T) {
	engines(t, func(t *testing.T, s Store) {
		commit(t, s, func(b *Batch) {
			for id := range uint64(6) {
				b.Put(sample(10+id, fmt.Sprint("text ", 10+id)), sampleLane)
			}
			b.Keep(sample(12, "text 12"), State{Aside: Parked, Reason: "no route"})
		})
		commit(t, s, func(b *Batch) {
			b.Keep(sample(14, "text 14"), State{Lane: sampleLane, Aside: Quarantined, Reason: "poison"})
			b.Keep(sample(13, "text 13"), State{Lane: sampleLane})
			b.Delete(11, 100)
		})
		want := []string{"12 text 12 (no route)", "14 text 14 (poison)"}
		if s.Durable() {
			want = []string{"10 text 10", "12 text 12 (no route)", "13 text 13 ()", "14 text 14 (poison)", "15 text 15"}
		}
		if got, next := entries(t, s, 0, 100); !slices.Equal(got, want) || next != 0 {
			t.Errorf("%q, next %d", got, next)
		}
		if got, _ := entries(t, s, 13, 1); len(got) != 1 || got[0] == want[0] {
			t.Errorf("from 13: %q", got)
		}
		var paged []string
		for next := uint64(0); ; {
			var page []string
			page, next = entries(t, s, next, 2)
			if paged = append(paged, page...); next == 0 {
				break
			}
		}
		if !slices.Equal(paged, want) {
			t.Errorf("in pages: %q", paged)
		}
		if s.LastID() != 15 || s.Stats().Messages != 5 {
			t.Errorf("last id %d, messages %d", s.LastID(), s.Stats().Messages)
		}
		var e Entry
		if ok, err := s.Get(14, &e); !ok || err != nil || describe(t, &e) != "14 text 14 (poison)" {
			t.Errorf("message 14: %v %v %s", ok, err, describe(t, &e))
		}
		if ok, err := s.Get(15, &e); ok != s.Durable() || err != nil || ok && describe(t, &e) != "15 text 15" {
			t.Errorf("message 15: %v %v %s", ok, err, describe(t, &e))
		}
		if ok, err := s.Get(11, &e); ok || err != nil {
			t.Errorf("message 11: %v %v", ok, err)
		}
		commit(t, s, func(b *Batch) { b.Delete(12, 100); b.Delete(14, 100) })
		if ok, err := s.Get(14, &e); ok || err != nil {
			t.Errorf("message 14: %v %v", ok, err)
		}
	})
}

// A peer's id stands for what was mapped for the latest day, until that day is forgotten.
func TestNote(t *testing.T) {
	engines(t, func(t *testing.T, s Store) {
		want := func(kind Kind, key, value string) {
			t.Helper()
			got, ok, err := s.Lookup(kind, []byte(key))
			if err != nil || ok != (value != "") || string(got) != value {
				t.Errorf("%s %s: %q %v %v, not %q", kind, key, got, ok, err, value)
			}
		}
		want("north", "a", "")
		commit(t, s, func(b *Batch) {
			b.Note("north", []byte("a"), []byte("first"), 5)
			b.Note("north", []byte("b"), []byte("second"), 5)
			b.Note("south", []byte("a"), []byte("third"), 6)
			b.Note("north", []byte("a"), []byte("fourth"), 7)
			b.Note("east", []byte("a"), []byte("fifth"), ^uint32(0))
		})
		want("north", "a", "fourth")
		want("north", "b", "second")
		want("south", "a", "third")
		commit(t, s, func(b *Batch) { b.ForgetBefore(6) })
		want("north", "b", "")
		want("south", "a", "third")
		commit(t, s, func(b *Batch) { b.ForgetBefore(8) })
		want("north", "a", "")
		want("south", "a", "")
		want("east", "a", "fifth")
	})
}

// Events come back in order until they are dropped.
func TestEvents(t *testing.T) {
	engines(t, func(t *testing.T, s Store) {
		commit(t, s, func(b *Batch) {
			for n := range uint64(10) {
				b.Event(1+n, fmt.Append(nil, "line ", 1+n))
			}
		})
		read := func(after uint64, limit int) (all []uint64, last uint64) {
			last, err := s.Events(after, limit, func(n uint64, line []byte) error {
				if string(line) != fmt.Sprint("line ", n) {
					t.Errorf("event %d: %q", n, line)
				}
				all = append(all, n)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return all, last
		}
		if all, last := read(3, 3); !slices.Equal(all, []uint64{4, 5, 6}) || last != 6 {
			t.Errorf("%v, last %d", all, last)
		}
		commit(t, s, func(b *Batch) { b.DropEvents(8) })
		if all, last := read(0, 100); !slices.Equal(all, []uint64{9, 10}) || last != 10 {
			t.Errorf("%v, last %d", all, last)
		}
		if all, last := read(10, 100); all != nil || last != 10 {
			t.Errorf("%v, last %d", all, last)
		}
	})
}

// A durable store is after its opening what it was before.
func TestReopen(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) {
		for id := range uint64(5) {
			b.Put(sample(100+id, "text"), sampleLane)
		}
		b.Keep(sample(103, "text"), State{Lane: sampleLane, Reason: "kept"})
		b.Note("north", []byte("a"), []byte("origin"), 9)
		b.Event(1, []byte("line"))
	})
	commit(t, s, func(b *Batch) { b.Delete(100, 50); b.Delete(104, 50) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, fs)
	if got, _ := entries(t, s, 0, 10); !slices.Equal(got, []string{"101 text", "102 text", "103 text (kept)"}) {
		t.Errorf("%q", got)
	}
	if s.LastID() != 104 || s.Stats().Messages != 3 {
		t.Errorf("last id %d, messages %d", s.LastID(), s.Stats().Messages)
	}
	if v, ok, err := s.Lookup("north", []byte("a")); !ok || err != nil || string(v) != "origin" {
		t.Errorf("%q %v %v", v, ok, err)
	}
	// The state goes with its message, although it was kept before the store was opened.
	commit(t, s, func(b *Batch) { b.Delete(103, 50); b.Put(sample(103, "again"), sampleLane) })
	if got, _ := entries(t, s, 103, 10); !slices.Equal(got, []string{"103 again"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A message with a lower id than all others is found, although the low mark was above it.
func TestLowMark(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	commit(t, s, func(b *Batch) { b.Put(sample(50, "text"), sampleLane) })
	s.Tidy()
	if low := s.(*durable).summary.marks.low; low != 50 {
		t.Errorf("low mark %d", low)
	}
	commit(t, s, func(b *Batch) { b.Delete(50, 50) })
	s.Tidy()
	if low := s.(*durable).summary.marks.low; low != 51 {
		t.Errorf("low mark %d", low)
	}
	commit(t, s, func(b *Batch) { b.Put(sample(40, "text"), sampleLane) })
	if got, _ := entries(t, s, 0, 10); !slices.Equal(got, []string{"40 text"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Two processes cannot have one store open.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Each commit is one synced write.
func TestSyncs(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	defer s.Close()
	before := s.Stats()
	for id := range uint64(100) {
		commit(t, s, func(b *Batch) { b.Put(sample(id, "text"), sampleLane) })
	}
	after := s.Stats()
	if commits, syncs := after.Commits-before.Commits, after.Syncs-before.Syncs; commits != 100 || syncs != 100 {
		t.Errorf("%d commits, %d syncs", commits, syncs)
	}
}

// An event is read when its commit has returned: pebble shows it before.
func TestEventsWaitForCommit(t *testing.T) {
	t.Parallel()
	h := &hangingSync{begun: make(chan struct{}), goOn: make(chan struct{})}
	s, err := Open("data", Options{FS: errorfs.Wrap(vfs.NewMem(), h)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events := func() (n int) {
		if _, err := s.Events(0, 10, func(uint64, []byte) error { n++; return nil }); err != nil {
			t.Error(err)
		}
		return n
	}
	h.on.Store(true)
	done := make(chan error)
	go func() {
		var b Batch
		b.Event(1, []byte("line"))
		done <- s.Commit(&b)
	}()
	<-h.begun
	if n := events(); n != 0 {
		t.Error("an event is read before it is safe")
	}
	close(h.goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := events(); n != 1 {
		t.Errorf("%d events", n)
	}
}

// A hangingSync hangs in the first sync after on is set.
type hangingSync struct {
	on          atomic.Bool
	begun, goOn chan struct{}
}

func (h *hangingSync) String() string { return "hanging sync" }

func (h *hangingSync) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		if h.on.Swap(false) {
			close(h.begun)
			<-h.goOn
		}
	}
	return nil
}

// A message that is deleted leaves nothing that pebble has to report: the size that is given is not exact.
func TestDeletesAreNotReported(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	defer s.Close()
	var b Batch
	for id := range uint64(100) {
		b.Put(sample(id+1, "text"), sampleLane)
	}
	for id := range uint64(100) {
		b.Delete(id+1, int(sample(id+1, "text").Size()))
	}
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	db := s.(*durable).db
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := db.Metrics().Keys.MissizedTombstonesCount; n != 0 {
		t.Errorf("%d deletes had a size that pebble reports", n)
	}
}

// A store that is not used does not write.
func TestIdle(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpCreate, errorfs.OpRename, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData:
			writes.Add(1)
		}
		return nil
	}))
	s := open(t, fs)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	if err := s.Close(); err != nil { // the journal makes its next file while it is open
		t.Fatal(err)
	}
	s = open(t, fs)
	s.Tidy()
	before := writes.Load()
	for range 2 * shrinkAfter {
		s.Tidy()
	}
	if n := writes.Load() - before; n != 0 {
		t.Errorf("%d operations that write", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
