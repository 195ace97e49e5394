package connector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// Connected instances are in front, each with all free slots of its window. An unconnected
// instance has one slot at the back.
func TestSlots(t *testing.T) {
	t.Parallel()
	c := newConnector(10, 3)
	var s Slots
	if s.Front() != nil || s.Take() != nil {
		t.Error("an empty list has slots")
	}
	idle := c.Acquire()
	s.Park(idle)
	l := newLink(c)
	s.Open(&l.Outlet, 3)
	var taken []*Slot
	for range 3 {
		slot := s.Take()
		if slot.Link != l || slot.Instance != l.Instance || slices.Contains(taken, slot) {
			t.Errorf("%+v", slot)
		}
		taken = append(taken, slot)
	}
	if f := s.Front(); f.Instance != idle || f.Outlet != nil {
		t.Errorf("behind the window is %+v", f)
	}
	taken[1].Message = &sms.Message{}
	s.Put(taken[1])
	if slot := s.Take(); slot != taken[1] || slot.Message != nil {
		t.Errorf("%+v comes back", slot)
	}
	s.Put(taken[0])
	if !s.Drop(&l.Outlet) || s.Drop(&l.Outlet) {
		t.Error("the slots are not in the list exactly once")
	}
	s.Put(taken[2])
	if slot := s.Take(); slot.Instance != idle || s.Take() != nil {
		t.Errorf("of a session that is over there is %+v", slot)
	}
	if s.Drop(&newLink(c).Outlet) {
		t.Error("a session without slots had some")
	}
}

// The list behaves like a count of each session's free slots.
func TestSlotsModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 3))
		c := newConnector(1000, 1)
		var s Slots
		free := map[*Link]int{}
		parked := 0
		var under []*Slot
		var links []*Link
		for range 3000 {
			switch random.IntN(8) {
			case 0:
				if c.HasFree() {
					l := newLink(c)
					free[l] = 1 + random.IntN(5)
					s.Open(&l.Outlet, free[l])
					links = append(links, l)
				}
			case 1:
				if len(links) > 0 && random.IntN(3) == 0 {
					i := random.IntN(len(links))
					s.Drop(&links[i].Outlet)
					delete(free, links[i])
					s.Park(links[i].Instance)
					parked++
					links = slices.Delete(links, i, i+1)
				}
			case 2, 3:
				if len(under) > 0 {
					i := random.IntN(len(under))
					slot := under[i]
					under = slices.Delete(under, i, i+1)
					s.Put(slot)
					if _, ok := free[slot.Link]; ok {
						free[slot.Link]++
					}
				}
			default:
				sum := 0
				for _, n := range free {
					sum += n
				}
				switch slot := s.Take(); {
				case slot == nil:
					if sum+parked > 0 {
						t.Fatalf("seed %d: no slot, want %d connected and %d others", seed, sum, parked)
					}
				case slot.Outlet == nil:
					if sum > 0 {
						t.Fatalf("seed %d: unconnected in front of %d connected slots", seed, sum)
					}
					parked--
					c.Return(slot.Instance)
				default:
					if free[slot.Link]--; free[slot.Link] < 0 {
						t.Fatalf("seed %d: a slot of a session that has none", seed)
					}
					under = append(under, slot)
				}
			}
		}
	}
}

// An idle session has one slot, whatever its window.
func TestSlotsLazy(t *testing.T) {
	t.Parallel()
	var s Slots
	l := newLink(newConnector(1, 10000))
	s.Open(&l.Outlet, 10000)
	for range 5 {
		s.Put(s.Take())
	}
	if n := len(l.slots); n > 2 {
		t.Errorf("%d slots were made for one request at a time", n)
	}
}

// An answer finds its request, once, and a sequence number whose cell is taken is skipped.
func TestInflight(t *testing.T) {
	t.Parallel()
	c := newConnector(1, 2)
	l := newLink(c)
	if l.Inflight.Take(1) != nil {
		t.Error("an answer to nothing")
	}
	first := &Slot{Sequence: l.Session.NextSequence(), Sent: 10}
	l.Inflight.Put(first)
	cells := uint32(len(*l.Inflight.cells.Load()))
	l.Session.(*toy.Session).Number += cells - 1
	second := &Slot{Sequence: l.Session.NextSequence(), Sent: 20} // the one before would take the cell of the first
	if want := first.Sequence + cells + 1; second.Sequence != want {
		t.Errorf("sequence %d, want %d", second.Sequence, want)
	}
	l.Inflight.Put(second)
	if l.Inflight.Take(first.Sequence+cells) != nil {
		t.Error("an answer to another number was taken for one")
	}
	var late []uint32
	l.Inflight.Overdue(20, func(s *Slot) { late = append(late, s.Sequence) })
	if !slices.Equal(late, []uint32{first.Sequence}) {
		t.Errorf("overdue are %d", late)
	}
	if l.Inflight.Take(first.Sequence) != nil || l.Inflight.Take(second.Sequence) != second || l.Inflight.Take(second.Sequence) != nil {
		t.Error("an answer was not taken once")
	}
}

// While one goroutine puts, another takes, and a third searches overdue requests, each slot
// is taken once, and none is lost.
func TestInflightConcurrent(t *testing.T) {
	t.Parallel()
	const window, requests = 16, 20000
	l := newLink(newConnector(1, window))
	free := make(chan *Slot, window)
	sent := make(chan uint32, window)
	for range window {
		free <- &Slot{}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range requests {
			slot := <-free
			slot.Sequence, slot.Sent = l.Session.NextSequence(), int64(n)
			l.Inflight.Put(slot)
			sent <- slot.Sequence
		}
		close(sent)
	})
	var answered, overdue int
	wg.Go(func() {
		last := int64(0)
		for sequence := range sent {
			if last++; last%1000 == 0 {
				l.Inflight.Overdue(last-3, func(slot *Slot) { overdue++; free <- slot })
			}
			if slot := l.Inflight.Take(sequence); slot != nil {
				answered++
				free <- slot
			}
		}
	})
	wg.Wait()
	if answered+overdue != requests || len(free) != window {
		t.Errorf("%d answered and %d overdue of %d, %d of %d slots are free", answered, overdue, requests, len(free), window)
	}
}

// A request and its answer allocate nothing.
func TestSlotsAllocations(t *testing.T) {
	l := newLink(newConnector(1, 10))
	var s Slots
	s.Open(&l.Outlet, 10)
	request := func() {
		slot := s.Take()
		slot.Sequence = l.Session.NextSequence()
		l.Inflight.Put(slot)
		s.Put(l.Inflight.Take(slot.Sequence))
	}
	request()
	if n := testing.AllocsPerRun(1000, request); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// BenchmarkSlots measures a slot that is taken, put in flight, answered and freed, by the
// number of connected instances.
func BenchmarkSlots(b *testing.B) {
	for _, instances := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("instances=%d", instances), func(b *testing.B) {
			c := newConnector(instances, 10)
			var s Slots
			for range instances {
				s.Open(&newLink(c).Outlet, 10)
			}
			b.ReportAllocs()
			for b.Loop() {
				slot := s.Take()
				slot.Sequence = slot.Link.Session.NextSequence()
				slot.Link.Inflight.Put(slot)
				s.Put(slot.Link.Inflight.Take(slot.Sequence))
			}
		})
	}
}

// After Resize as many requests are under way as it allows, or more only until those above it are answered.
func TestSlotsResize(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 4))
		c := newConnector(2, 1)
		var s Slots
		l, other := newLink(c), newLink(c)
		size := 1 + random.IntN(5)
		s.Open(&l.Outlet, size)
		s.Open(&other.Outlet, 1)
		var under, frozen []*Slot
		for range 2000 {
			switch random.IntN(6) {
			case 0:
				size = 1 + random.IntN(12)
				s.Thaw(&l.Outlet) // the size changes after an answer
				frozen = nil
				if !s.Resize(&l.Outlet, size) {
					t.Fatalf("seed %d: not resized", seed)
				}
			case 1:
				if n := len(under); n > 0 {
					slot := under[n-1]
					under = under[:n-1]
					if s.Freeze(slot); slices.Contains(l.frozen, slot) {
						frozen = append(frozen, slot)
					}
				}
			case 2:
				s.Thaw(&l.Outlet)
				frozen = nil
			case 3:
				if n := len(under); n > 0 {
					i := random.IntN(n)
					s.Put(under[i])
					under = slices.Delete(under, i, i+1)
				}
			default:
				var others []*Slot
				for slot := s.Take(); slot != nil; slot = s.Take() {
					if slot.Link == other {
						others = append(others, slot)
						continue
					}
					if under = append(under, slot); random.IntN(2) == 0 {
						break
					}
				}
				for _, slot := range others {
					s.Put(slot)
				}
			}
			if full := l.isFull(); full != (len(under)+len(frozen) >= size) {
				t.Fatalf("seed %d: full %t with %d under way and %d frozen of %d", seed, full, len(under), len(frozen), size)
			}
			isFree := func(slot *Slot) bool { return slot.next != nil }
			if len(under) == 0 && !slices.ContainsFunc(l.slots, isFree) {
				t.Fatalf("seed %d: no request can be sent, with %d frozen of %d", seed, len(frozen), size)
			}
		}
		for _, slot := range under {
			s.Put(slot)
		}
		s.Thaw(&l.Outlet)
		n := 0
		for slot := s.Take(); slot != nil; slot = s.Take() {
			if slot.Link == l {
				n++
			}
		}
		if n != size {
			t.Fatalf("seed %d: %d slots of %d", seed, n, size)
		}
	}
}
