package connector

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/config"
	"pmg/protocols/prototest/toy"
)

func newConnector(instances, window int) *Connector {
	return New(0, &config.Connector{Name: "c", Direction: config.In, Instances: instances, Window: config.Window(window)}, toy.New(), &Memory{})
}

func newLink(c *Connector) *Link {
	l := &Link{}
	l.Open(c.Acquire(), netip.AddrPort{}, 1, nil)
	return l
}

// Of all goroutines that end a session one is the first, and its reason is kept.
func TestBeginClosing(t *testing.T) {
	l := newLink(newConnector(1, 1))
	if l.Closing() || l.Reason() != "" {
		t.Error("closing from the start")
	}
	var first atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if l.BeginClosing("why") {
				first.Add(1)
			}
		})
	}
	wg.Wait()
	if l.BeginClosing("too late") || first.Load() != 1 || !l.Closing() || l.Reason() != "why" {
		t.Errorf("%d were the first, reason %q", first.Load(), l.Reason())
	}
}

// An instance has one user at a time, there are no more instances than the limit, and their
// numbers are used again.
func TestInstances(t *testing.T) {
	c := newConnector(3, 1)
	a, b, d := c.Acquire(), c.Acquire(), c.Acquire()
	if a.Number != 1 || b.Number != 2 || d.Number != 3 || c.Acquire() != nil || c.HasFree() {
		t.Error("not three instances")
	}
	b.SetLink(&Link{Source: Source{Instance: b}})
	c.Links(func(l *Link) {
		if l.Instance != b {
			t.Errorf("instance %d is connected", l.Instance.Number)
		}
	})
	c.Return(b)
	if !c.HasFree() || c.Acquire() != b {
		t.Error("a returned instance is not used again")
	}
	c.SetSockets(1)
	c.Return(a)
	if c.Acquire() != nil || c.HasFree() {
		t.Error("instances are returned beyond the lowered limit")
	}
	var wg sync.WaitGroup
	c = newConnector(5, 1)
	var using [6]atomic.Bool
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				i := c.Acquire()
				if using[i.Number].Swap(true) {
					t.Errorf("instance %d has two users", i.Number)
				}
				using[i.Number].Store(false)
				c.Return(i)
			}
		})
	}
	wg.Wait()
}

// Every duration is counted in a bucket, and a bucket includes its upper bound.
func TestHistogram(t *testing.T) {
	var h Histogram
	in := func(ns int64) int {
		t.Helper()
		before := [buckets]int64{}
		for i := range before {
			before[i] = h.Buckets[i].Load()
		}
		h.Observe(ns)
		for i := range before {
			if h.Buckets[i].Load() != before[i] {
				return i
			}
		}
		t.Errorf("%d ns are in no bucket", ns)
		return -1
	}
	for i := range buckets - 1 {
		if at := in(h.Bound(i)); at != i {
			t.Errorf("the bound of bucket %d is counted in %d", i, at)
		}
		if at := in(h.Bound(i) + 1); at != i+1 {
			t.Errorf("what is above bucket %d is counted in %d", i, at)
		}
	}
	for ns, want := range map[int64]int{0: 0, -5: 0, 1: 0, int64(time.Hour): buckets - 1} {
		if at := in(ns); at != want {
			t.Errorf("%d ns are counted in bucket %d, want %d", ns, at, want)
		}
	}
	if least := time.Minute; time.Duration(h.Bound(buckets-2)) < least {
		t.Errorf("the last bound is %v, want %v or more", time.Duration(h.Bound(buckets-2)), least)
	}
}

func TestStats(t *testing.T) {
	s := NewStats(config.In, 2)
	s.Count(1, true, 2)
	s.CountStatus(1, true, 0)
	s.CountStatus(1, true, 8)
	s.Count(1, false, 1)
	s.CountStatus(1, false, 8)
	if s.PDUsIn[1].Load() != 2 || s.PDUsOut[1].Load() != 1 || s.PDUsIn[0].Load() != 0 {
		t.Error("PDUs are counted wrongly")
	}
	for n := range uint32(2 * maxStatuses) { // a peer can invent any
		s.CountStatus(0, true, n+1)
	}
	s.CountStatus(1, true, 8)
	got := s.Statuses()
	if got[StatusKey{1, true, 8}] != 2 || got[StatusKey{1, false, 8}] != 1 || len(got) != maxStatuses+1 || got[StatusKey{0, true, OtherStatus}] != maxStatuses+2 {
		t.Errorf("%d statuses, %d and %d of 8", len(got), got[StatusKey{1, true, 8}], got[StatusKey{1, false, 8}])
	}
}
