package store

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Events that were moved are dropped each second, and one message that waits keeps the memory table from being
// dropped. A read allocates about as much as the ranges take, not their square. This test is not
// parallel, because it measures what all goroutines allocate.
func TestDropEventsOften(t *testing.T) {
	s := open(t, vfs.NewMem())
	commit(t, s, func(b *Batch) { b.Put(sample(1, "waits"), sampleLane) })
	line, last := []byte(strings.Repeat("x", 400)), uint64(0)
	next := func() { // the event is in pebble when the next call drops it
		last++
		commit(t, s, func(b *Batch) {
			b.Event(last, line)
			b.DropEvents(last - 1)
		})
		if err := s.(*durable).move(); err != nil {
			t.Fatal(err)
		}
	}
	const drops = 2000
	for last < drops {
		next()
	}
	least := uint64(math.MaxUint64) // what pebble does meanwhile counts as well
	for range 5 {
		next()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := eventsOf(t, s); len(got) != 1 {
			t.Errorf("%d events", len(got))
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > drops*1024 {
		t.Errorf("a read behind %d drops allocates %d octets", drops, least)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Events that were dropped are gone whatever was dropped before, by this run or an earlier one.
func TestDropEvents(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) {
		for n := uint64(1); n <= 10; n++ {
			b.Event(n, []byte("line"))
		}
	})
	for _, c := range []struct {
		upTo uint64
		left int
	}{{3, 7}, {2, 7}, {3, 7}, {5, 5}, {0, 5}, {10, 0}} {
		commit(t, s, func(b *Batch) { b.DropEvents(c.upTo) })
		commit(t, s, func(b *Batch) { b.DropEvents(c.upTo); b.DropEvents(1) })
		if got := eventsOf(t, s); len(got) != c.left {
			t.Errorf("dropped up to %d: %d events, not %d", c.upTo, len(got), c.left)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s = open(t, fs)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func eventsOf(t *testing.T, s Store) (numbers []uint64) {
	t.Helper()
	if _, err := s.Events(0, 100, func(n uint64, _ []byte) error { numbers = append(numbers, n); return nil }); err != nil {
		t.Error(err)
	}
	return numbers
}
