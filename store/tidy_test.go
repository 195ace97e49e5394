package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// texts are texts of 1,000 octets that cannot be compressed.
type texts struct{ random *rand.Rand }

func newTexts() *texts { return &texts{rand.New(rand.NewPCG(1, 1))} }

func (x *texts) next() string {
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte(x.random.Uint32())
	}
	return string(text)
}

// becomesSmall waits until there are no more than a number of octets.
func becomesSmall(t *testing.T, octets func() int64, most int64) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); octets() > most; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the store takes %d octets, more than %d", octets(), most)
		}
	}
}

// A store that is empty for a while becomes small, and then works as before. A count that was
// wrong is right again.
func TestShrink(t *testing.T) {
	t.Parallel()
	s, err := Open("data", Options{FS: vfs.NewMem(), memTable: 64 << 10, segment: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	texts := newTexts()
	for id := uint64(1); id <= 2000; id++ {
		commit(t, s, func(b *Batch) { b.Put(sample(id, texts.next()), sampleLane) })
	}
	commit(t, s, func(b *Batch) { b.Put(sample(2000, "put twice"), sampleLane) })
	full := s.Stats().Octets
	for id := uint64(1); id <= 2000; id++ {
		commit(t, s, func(b *Batch) { b.Delete(id, 1100) })
	}
	for range shrinkAfter {
		s.Tidy()
	}
	if n := s.Stats().Messages; n != 0 {
		t.Errorf("%d messages", n)
	}
	becomesSmall(t, func() int64 { // pebble does not remove tables that it was compacting
		commit(t, s, func(b *Batch) { b.Delete(1, 0) })
		s.Tidy()
		return s.Stats().Octets
	}, full/2)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "low"), sampleLane); b.Put(sample(3000, "high"), sampleLane) })
	if got, _ := entries(t, s, 0, 10); !slices.Equal(got, []string{"1 low", "3000 high"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// T8: a store whose backlog was sent becomes small while a few messages come and go, and where
// some stay.
func TestShrinkUnderTraffic(t *testing.T) {
	for _, c := range []struct {
		name string
		stay []uint64
	}{
		{"traffic", nil},
		{"first stays", []uint64{1}},
		{"some stay", []uint64{1, 2, 10_000, 10_001, 18_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := Open("data", Options{FS: vfs.NewMem(), memTable: 4 << 20})
			if err != nil {
				t.Fatal(err)
			}
			const n = 18_000
			texts := newTexts()
			for from := uint64(1); from <= n; from += 100 {
				commit(t, s, func(b *Batch) {
					for id := from; id < from+100; id++ {
						b.Put(sample(id, texts.next()), sampleLane)
					}
				})
			}
			for from := uint64(1); from <= n; from += 100 {
				commit(t, s, func(b *Batch) {
					for id := from; id < from+100; id++ {
						if !slices.Contains(c.stay, id) {
							b.Delete(id, 1000)
						}
					}
				})
			}
			want := entriesOf(t, s)
			for id := uint64(n + 1); id <= n+shrinkAfter; id++ {
				commit(t, s, func(b *Batch) { b.Put(sample(id, texts.next()), sampleLane) })
				s.Tidy()
				commit(t, s, func(b *Batch) { b.Delete(id, 1000) })
			}
			becomesSmall(t, func() int64 { // logs are kept for later use
				s.Tidy()
				return s.(*durable).tidier.tableOctets()
			}, smallTables)
			if got := entriesOf(t, s); len(got) != len(c.stay) || !slices.Equal(got, want) {
				t.Errorf("%d messages, not %d", len(got), len(c.stay))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A store that has not become small is made smaller again, though not forever.
func TestShrinkAgain(t *testing.T) {
	t.Parallel()
	var s shrinking
	compacting := false
	count := func(empty bool, commits, deleted, tables int64) (n int) {
		for range 10 * shrinkAfter {
			if s.due(empty, commits, deleted, tables, compacting) {
				n++
				s.commits = commits // as shrink does
			}
		}
		return n
	}
	if n := count(false, 1, shrinkOctets-1, smallTables+1); n != 0 {
		t.Errorf("%d times while little was deleted", n)
	}
	if n := count(false, 2, shrinkOctets, smallTables+1); n != 1+shrinkAgain {
		t.Errorf("%d times while the tables stay large", n)
	}
	if n := count(false, 3, 2*shrinkOctets, smallTables); n != 1 {
		t.Errorf("%d times where the tables are small", n)
	}
	compacting = true // a try would be in vain
	if n := count(false, 4, 3*shrinkOctets, smallTables+1); n != 1 {
		t.Errorf("%d times while tables are compacted", n)
	}
	compacting = false
	if n := count(false, 4, 3*shrinkOctets, smallTables+1); n != shrinkAgain {
		t.Errorf("%d times when they are", n)
	}
	s = shrinking{}
	if n := count(true, 5, 1000, smallTables+1); n != 1+shrinkAgain {
		t.Errorf("%d times where the store is empty", n)
	}
}

// entriesOf returns the texts of all messages.
func entriesOf(t *testing.T, s Store) []string {
	all, _ := entries(t, s, 0, 100)
	return all
}

// What is put, kept or deleted while the store is made smaller is in the store afterwards as
// without that.
func TestShrinkWhileChanging(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Batch)
		again  bool // what was there is written again
		want   []string
	}{
		{"nothing", func(*Batch) {}, true, []string{"10 stays", "20 kept (again)", "30 goes"}},
		{"first", func(b *Batch) { b.Put(sample(1, "new"), sampleLane) }, false, []string{"1 new", "10 stays", "20 kept (again)", "30 goes"}},
		{"between", func(b *Batch) { b.Put(sample(11, "new"), sampleLane) }, false, []string{"10 stays", "11 new", "20 kept (again)", "30 goes"}},
		{"last", func(b *Batch) { b.Put(sample(41, "new"), sampleLane) }, true, []string{"10 stays", "20 kept (again)", "30 goes", "41 new"}},
		{"deleted", func(b *Batch) { b.Delete(30, 50); b.Delete(20, 50) }, true, []string{"10 stays"}},
		{"kept", func(b *Batch) { b.Keep(sample(30, ""), State{Reason: "now"}) }, true, []string{"10 stays", "20 kept (again)", "30 goes (now)"}},
	} {
		s := open(t, vfs.NewMem()).(*durable)
		commit(t, s, func(b *Batch) {
			b.Put(sample(10, "stays"), sampleLane)
			b.Put(sample(20, "kept"), sampleLane)
			b.Keep(sample(20, ""), State{Reason: "again"})
			b.Put(sample(30, "goes"), sampleLane)
			b.Put(sample(40, "gone"), sampleLane)
			b.Delete(40, 50)
		})
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
		spans, err := s.tidier.spans()
		if err != nil || len(spans) != 1 || spans[0].first != 0 || spans[0].end != 41 || !slices.Equal(spans[0].messages, []uint64{10, 20, 30}) {
			t.Errorf("%s: %v, error %v", c.name, spans, err)
		}
		commit(t, s, c.change)
		for _, p := range spans {
			if err := s.tidier.rewrite(p, request{batch: true, flush: true}); err != nil {
				t.Error(err)
			}
		}
		if again := s.writer.batch.Count() > 0; again != c.again {
			t.Errorf("%s: messages are written again: %v", c.name, again)
		}
		if got := entriesOf(t, s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Messages are written again a part at a time, and where there are too many, none is.
func TestShrinkSpans(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem()).(*durable)
	put := func(first, end uint64) {
		commit(t, s, func(b *Batch) {
			for id := first; id < end; id++ {
				b.Put(sample(id, "text"), sampleLane)
			}
		})
	}
	describe := func() (text string) {
		if err := s.move(); err != nil {
			t.Error(err)
		}
		spans, err := s.tidier.spans()
		if err != nil {
			t.Error(err)
		}
		for _, p := range spans {
			text += fmt.Sprint(" ", p.first, "-", p.end, ":", len(p.messages))
		}
		return text
	}
	if got := describe(); got != " 0-1:0" {
		t.Errorf("empty:%s", got)
	}
	put(100, 100+spanMessages)
	if got, want := describe(), fmt.Sprintf(" 0-%d:%d", 100+spanMessages, spanMessages); got != want {
		t.Errorf("one:%s", got)
	}
	put(5000, 5002)
	if got, want := describe(), fmt.Sprintf(" 0-5000:%d 5000-5002:2", spanMessages); got != want {
		t.Errorf("two:%s", got)
	}
	put(10_000, 10_000+fewMessages)
	if got := describe(); got != " 0-100:0" {
		t.Errorf("many:%s", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
