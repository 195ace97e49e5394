package store

import (
	"errors"
	"strings"
	"testing"
)

// aside adds messages of 60,000 octets that are put aside. With put they have just been accepted.
func aside(b *Batch, from, to uint64, put bool) {
	text := strings.Repeat("x", 60_000)
	for id := from; id <= to; id++ {
		m := sample(id, text)
		if put {
			b.Put(m, sampleLane)
		}
		b.Keep(m, State{Lane: sampleLane, Aside: Parked})
	}
}

// asideRoom is how many of them a store in memory has room for.
func asideRoom() uint64 {
	var b Batch
	aside(&b, 1, 1, false)
	return uint64(maxAside / b.Octets())
}

// D20f: a store in memory refuses messages beyond its limit, and then takes what is left of the
// batch. It counts what a batch deletes.
func TestMemoryFullGetsThrough(t *testing.T) {
	t.Parallel()
	s := NewMemory()
	c := NewCommitter(s, running{})
	defer c.Close()
	room := asideRoom()
	c.Write(func(b *Batch) { aside(b, 1, room+1, true) })
	if err := c.Sync(); !errors.Is(err, errAsideFull) {
		t.Fatalf("got %v, want %v", err, errAsideFull)
	}
	if err := c.Sync(); err != nil {
		t.Fatalf("the rest: %v", err)
	}
	c.Write(func(b *Batch) { aside(b, 1, room, true) })
	if err := c.Sync(); err != nil {
		t.Fatalf("as many as there may be: %v", err)
	}
	c.Write(func(b *Batch) {
		b.Delete(1, 60_000)
		aside(b, room+1, room+1, true)
	})
	if err := c.Sync(); err != nil {
		t.Errorf("one in place of another: %v", err)
	}
}

// D20f: messages of a lane that are put aside are kept, however many there are: there is no sender
// to refuse.
func TestMemoryAsideFromLanes(t *testing.T) {
	t.Parallel()
	s, b, room := NewMemory(), &Batch{}, asideRoom()
	aside(b, 1, room+1, false)
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	aside(b, room+2, room+2, true)
	if err := s.Commit(b); !errors.Is(err, errAsideFull) {
		t.Errorf("got %v, want %v", err, errAsideFull)
	}
}
