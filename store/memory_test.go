package store

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pmg/sms"
)

// A store in memory puts only so many octets of messages aside. What does not fit is refused as a
// whole, and there is room again when some have gone.
func TestMemoryAsideFull(t *testing.T) {
	t.Parallel()
	s := NewMemory()
	text := strings.Repeat("t", 1<<20)
	aside := func(b *Batch, id uint64) {
		b.Put(sample(id, text), sampleLane)
		b.Keep(sample(id, text), State{Aside: Parked, Reason: "no route"})
	}
	last := uint64(0)
	var err error
	for ; err == nil && last < 100; last++ {
		var b Batch
		b.Event(last+1, []byte("line"))
		aside(&b, last+1)
		err = s.Commit(&b)
	}
	if !errors.Is(err, errAsideFull) || last != maxAside>>20 {
		t.Fatalf("message %d: %v", last, err)
	}
	if n, _ := s.Events(0, 100, func(uint64, []byte) error { return nil }); n != last-1 || s.LastID() != last-1 || s.Stats().Messages != int64(last-1) {
		t.Errorf("half of the batch was carried out: event %d, id %d, %+v", n, s.LastID(), s.Stats())
	}
	var e Entry
	if ok, _ := s.Get(last, &e); ok {
		t.Error("the message is there")
	}
	commit(t, s, func(b *Batch) { b.Delete(1, 0); b.Keep(sample(2, text), State{Lane: sampleLane}) })
	commit(t, s, func(b *Batch) { aside(b, last) })
	commit(t, s, func(b *Batch) { aside(b, last+1) })
	var b Batch
	if aside(&b, last+2); !errors.Is(s.Commit(&b), errAsideFull) {
		t.Error("it takes more than before")
	}
	if got, _ := entries(t, s, last, 10); len(got) != 2 {
		t.Errorf("%d messages", len(got))
	}
}

// A store in memory keeps only so many events: the oldest make room.
func TestMemoryEventsFull(t *testing.T) {
	t.Parallel()
	s := NewMemory()
	commit(t, s, func(b *Batch) {
		for n := uint64(1); n <= maxMemoryEvents+2; n++ {
			b.Event(n, []byte("line"))
		}
	})
	count, first := 0, uint64(0)
	last, err := s.Events(0, 1<<30, func(n uint64, _ []byte) error {
		if count++; count == 1 {
			first = n
		}
		return nil
	})
	if err != nil || count != maxMemoryEvents || first != 3 || last != maxMemoryEvents+2 {
		t.Errorf("%d events, %d to %d, %v", count, first, last, err)
	}
}

// What is put aside is replaced as a whole, and what the function of a reader refuses ends the reading.
func TestReplace(t *testing.T) {
	engines(t, func(t *testing.T, s Store) {
		commit(t, s, func(b *Batch) {
			for id := uint64(1); id <= 3; id++ {
				b.Put(sample(id, "text"), sampleLane)
				b.Keep(sample(id, "text"), State{Aside: Parked, Reason: "why"})
			}
			b.Event(1, []byte("line"))
			b.Event(2, []byte("line"))
		})
		commit(t, s, func(b *Batch) { b.Replace(sample(2, "other"), sampleLane) })
		if got, _ := entries(t, s, 0, 10); !slices.Equal(got, []string{"1 text (why)", "2 other (why)", "3 text (why)"}) {
			t.Errorf("%q", got)
		}
		errEnough := errors.New("enough")
		if next, err := s.Scan(0, 10, func(e *Entry) error { return map[bool]error{true: errEnough}[e.ID == 2] }); !errors.Is(err, errEnough) || next != 0 {
			t.Errorf("next %d, %v", next, err)
		}
		last, err := s.Events(0, 10, func(n uint64, _ []byte) error { return map[bool]error{true: errEnough}[n == 2] })
		if !errors.Is(err, errEnough) || last != 1 {
			t.Errorf("the last event is %d, %v", last, err)
		}
	})
}

// A message that is put aside when it was in a lane is the last one there is, although it was not put before.
func TestMemoryLastAside(t *testing.T) {
	t.Parallel()
	s := NewMemory()
	var b Batch
	b.Keep(&sms.Message{ID: 7}, State{Aside: Quarantined})
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if last := s.LastID(); last != 7 {
		t.Errorf("the last one is %d", last)
	}
}
