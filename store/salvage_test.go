package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An entry is deleted by the ranges that it lies in and that are younger, whatever their order.
func TestDeleteRanges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	name := func() string { return fmt.Sprintf("%02d", random.IntN(30)) }
	deleted := 0
	for range 300 {
		s := salvage{entries: map[string]entry{}}
		for range random.IntN(30) {
			s.entries[name()] = entry{seq: random.Uint64N(50)}
		}
		for range random.IntN(10) {
			s.ranges = append(s.ranges, deletedRange{name(), name(), random.Uint64N(50)})
		}
		want := maps.Clone(s.entries)
		maps.DeleteFunc(want, func(key string, e entry) bool {
			return slices.ContainsFunc(s.ranges, func(r deletedRange) bool { return key >= r.start && key < r.end && e.seq < r.seq })
		})
		deleted += len(s.entries) - len(want)
		s.deleteRanges()
		if !slices.Equal(slices.Sorted(maps.Keys(s.entries)), slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%v, not %v", s.entries, want)
		}
	}
	if deleted < 100 {
		t.Errorf("only %d entries were deleted", deleted)
	}
}

// A repair keeps what Keep has stored of messages that are there, those that were put aside among
// them, and nothing of messages that were deleted.
func TestRepairStates(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) {
		for id := uint64(1); id <= 4; id++ {
			b.Put(sample(id, "text"), sampleLane)
			b.Keep(sample(id, ""), State{Aside: Parked, Reason: fmt.Sprint("why ", id)})
		}
	})
	commit(t, s, func(b *Batch) { b.Delete(1, 50); b.Delete(2, 50) })
	d := s.(*durable)
	if err := d.move(); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	if d.summary.marks.low != 3 {
		t.Fatalf("the low mark is %d", d.summary.marks.low)
	}
	for _, kind := range []byte{keyMessage, keyState} { // as where the table with the deletion is damaged
		setEntry(t, d, appendKey(nil, kind, 2), mustGet(t, d, appendKey(nil, kind, 3)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, r, err := repair(fs, "data", aMoment)
	if err != nil || r.Messages != 2 || r.First != 3 {
		t.Errorf("%+v, error %v", r, err)
	}
	s = open(t, fs)
	if got, _ := entries(t, s, 0, 10); !slices.Equal(got, []string{"3 text (why 3)", "4 text (why 4)"}) {
		t.Errorf("%q", got)
	}
	if first, ok, err := s.(*durable).first(keyState, 0); first != 3 || !ok || err != nil {
		t.Errorf("the first state is that of %d, error %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func mustGet(t *testing.T, s *durable, key []byte) []byte {
	t.Helper()
	value, ok, err := s.get(key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return value
}
