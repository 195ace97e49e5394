package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A message that ends soon is never in pebble, and one that waits is there after two rounds. What is young takes no more memory
// however long that goes on, and nor does the journal.
func TestRounds(t *testing.T) {
	t.Parallel()
	s, err := Open("data", Options{FS: vfs.NewMem(), segment: 64 << 10, atOnce: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := s.(*durable)
	commit(t, s, func(b *Batch) {
		b.Put(sample(1, "waits"), sampleLane)
		b.Keep(sample(1, ""), State{Reason: "busy"})
		b.Put(sample(2, "waits"), sampleLane)
	})
	text := string(make([]byte, 1000))
	for round := range uint64(200) {
		for n := range uint64(20) {
			id := 10 + round*20 + n
			commit(t, s, func(b *Batch) { b.Put(sample(id, text), sampleLane); b.Event(id, []byte("line")) })
			commit(t, s, func(b *Batch) { b.Delete(id, 1000); b.DropEvents(id) })
		}
		_, there, err := d.reader.first(keyMessage, 0)
		if err != nil || there != (round > 1) {
			t.Fatalf("round %d: a message is in pebble: %v, %v", round, there, err)
		}
		s.Tidy()
		if round%50 == 49 {
			if err := d.writer.askAlone(request{flush: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	y := d.writer.young
	if n := len(y.fresh.chunks) + len(y.old.chunks) + len(y.left.chunks); n > 3 || y.messages.len() > 0 || len(y.events) > 0 {
		t.Errorf("%d pieces of memory, %d messages, %d events", n, y.messages.len(), len(y.events))
	}
	if octets := d.journal.Status().Octets; octets > 4<<20 {
		t.Errorf("the journal takes %d octets", octets)
	}
	if got := entriesOf(t, s); !slices.Equal(got, []string{"1 waits (busy)", "2 waits"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// When the journal has grown, the memory table is written, and what has just come stays young: Tidy begins the rounds. Without it the
// journal's growth does.
func TestRoundsUnderLoad(t *testing.T) {
	t.Parallel()
	s, err := Open("data", Options{FS: vfs.NewMem(), flush: 100 << 10})
	if err != nil {
		t.Fatal(err)
	}
	d, id := s.(*durable), uint64(1)
	write := func(kib int) {
		id++
		commit(t, s, func(b *Batch) { b.Put(sample(id, string(make([]byte, kib<<10))), sampleLane) })
		commit(t, s, func(b *Batch) { b.Delete(id, 0) })
	}
	commit(t, s, func(b *Batch) { b.Event(1, []byte("line")) })
	write(30)
	write(30)
	write(30)
	s.Tidy()
	write(30)
	if d.growth().octets.Load() > 50<<10 || len(d.writer.young.events) != 1 {
		t.Errorf("%d octets since the memory table was written; %d events are young", d.growth().octets.Load(), len(d.writer.young.events))
	}
	for range 5 {
		write(30)
	}
	if n := len(d.writer.young.events); n != 0 {
		t.Errorf("%d events are young after more than the journal may grow", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func (s *durable) growth() *growth { return &s.writer.growth }

// Events come in their order, once each, wherever they are, and a message is found wherever it is.
func TestReadsYoung(t *testing.T) {
	t.Parallel()
	s, err := Open("data", Options{FS: vfs.NewMem(), atOnce: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	for range 6 {
		for range eventsAtOnce / 2 {
			n++
			commit(t, s, func(b *Batch) { b.Put(sample(n, fmt.Sprint("text ", n)), sampleLane); b.Event(n, fmt.Append(nil, n)) })
		}
		s.Tidy()
		for _, after := range []uint64{0, 1, n / 2, n - 1, n} {
			for _, limit := range []int{1, 3, 1000} {
				want := after
				last, err := s.Events(after, limit, func(number uint64, line []byte) error {
					if want++; number != want || string(line) != fmt.Sprint(want) {
						t.Errorf("event %d is %d %s", want, number, line)
					}
					return nil
				})
				if err != nil || last != want || want != min(after+uint64(limit), n) {
					t.Errorf("%d after %d: up to %d, said %d of %d, %v", limit, after, want, last, n, err)
				}
			}
		}
		for id := uint64(1); id <= n; id += 7 {
			var e Entry
			if ok, err := s.Get(id, &e); !ok || err != nil || describe(t, &e) != fmt.Sprint(id, " text ", id) {
				t.Errorf("message %d: %v %v", id, ok, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What is moved while the store is made smaller is there afterwards.
func TestShrinkWhileMoving(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem()).(*durable)
	commit(t, s, func(b *Batch) { b.Put(sample(10, "moved"), sampleLane) })
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, func(b *Batch) { b.Put(sample(20, "young"), sampleLane) })
	spans, err := s.tidier.spans()
	if err == nil {
		err = s.move()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range spans {
		if err := s.tidier.rewrite(p, request{batch: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := entriesOf(t, s); !slices.Equal(got, []string{"10 moved", "20 young"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A commit allocates no more for many messages than for one.
func TestCommitAllocations(t *testing.T) {
	s := open(t, vfs.NewMem())
	var b Batch
	id, m := uint64(0), sample(1, "text")
	round := func() {
		b.Reset()
		for range 100 {
			id++
			m.ID = id
			b.Put(m, sampleLane)
			b.Delete(max(id, 200)-199, 100)
		}
		if err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n > 10 {
		t.Errorf("%v allocations for 100 messages", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
