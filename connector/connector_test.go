package connector

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/protocols"
)

// A driver is as much of a protocol as these tests need.
type driver struct{ protocols.Driver }

func (driver) Commands() []string { return []string{"a", "b"} }
func (driver) NewSession(protocols.SessionOptions) protocols.Session {
	return &session{}
}

type session struct {
	protocols.Session
	sequence uint32
}

func (s *session) NextSequence() uint32 { s.sequence++; return s.sequence }

func newConnector(instances, window int) *Connector {
	return New(0, &config.Connector{Name: "c", Direction: config.In, Instances: instances, Window: window}, driver{})
}

func newLink(c *Connector) *Link {
	l := &Link{}
	l.Open(c.Acquire(), netip.AddrPort{}, 1, nil)
	return l
}

// handle is a handle on one end of a socket pair, and the other end.
func handle(t *testing.T) (h *Handle, peer int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(pair[1]) })
	return NewHandle(newConnector(1, 1).Acquire(), pair[0], netip.AddrPort{}, 1), pair[1]
}

// over tells whether the other end of a socket pair has been closed.
func over(t *testing.T, peer int) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(peer), Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(fds, 0); err != unix.EINTR {
			return n > 0 && fds[0].Revents&unix.POLLHUP != 0
		}
	}
}

// The descriptor is closed when the last reference is given up, once, whoever does.
func TestHandle(t *testing.T) {
	h, peer := handle(t)
	const holders = 8
	h.Retain(holders)
	if h.Refs() != holders+1 {
		t.Errorf("%d references, want %d", h.Refs(), holders+1)
	}
	if _, err := unix.Write(peer, []byte("unread")); err != nil {
		t.Fatal(err)
	}
	var closed atomic.Int64
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			for range 1000 {
				h.Retain(2)
				if _, last := h.Release(1); last {
					closed.Add(1)
				}
				if h.RetainOpen() {
					h.Release(1)
				} else {
					t.Error("not open though held")
				}
				h.Release(1)
			}
			if _, last := h.Release(1); last {
				closed.Add(1)
			}
		})
	}
	wg.Wait()
	if closed.Load() != 0 || over(t, peer) {
		t.Error("closed though the reader holds it")
	}
	if left, last := h.Release(1); left != 0 || !last || !over(t, peer) {
		t.Errorf("%d references left, closed %t, seen by the peer %t", left, last, over(t, peer))
	}
	if h.RetainOpen() {
		t.Error("a closed handle was retained")
	}
	for name, f := range map[string]func(){
		"retained": func() { h.Retain(1) },
		"released": func() { h.Release(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a closed handle was %s", name)
				}
			}()
			f()
		}()
	}
}

// Of all who want a session to end one is the first, and its reason is told.
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

// An instance has one user at a time, there are no more than the limit, and
// numbers are used again.
func TestInstances(t *testing.T) {
	c := newConnector(3, 1)
	a, b, d := c.Acquire(), c.Acquire(), c.Acquire()
	if a.Number != 1 || b.Number != 2 || d.Number != 3 || c.Acquire() != nil || c.HasFree() {
		t.Error("not three instances")
	}
	b.SetLink(&Link{Instance: b})
	c.Links(func(l *Link) {
		if l.Instance != b {
			t.Errorf("instance %d is connected", l.Instance.Number)
		}
	})
	c.Return(b)
	if !c.HasFree() || c.Acquire() != b {
		t.Error("what is returned is not used again")
	}
	c.SetConfig(&config.Connector{Instances: 1})
	c.Return(a)
	if c.Acquire() != nil || c.Instances() != 1 {
		t.Error("the limit was lowered, and still instances are given")
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

// Rests grow to a limit, and differ a little.
func TestRest(t *testing.T) {
	c := newConnector(1, 1)
	c.SetConfig(&config.Connector{Instances: 1, ReconnectDelay: time.Second})
	i := c.Acquire()
	for n, least := range []time.Duration{1, 2, 4, 6, 6, 6} {
		least *= time.Second
		if d := i.Rest(); d < least || d > least*6/5 || i.Address != n+1 {
			t.Errorf("rest %d is %v, want %v and a little; address %d", n, d, least, i.Address)
		}
	}
}

// A bucket's bound belongs to it, and every duration to a bucket.
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
	s := NewStats(2)
	s.Count(1, true, 2)
	s.CountStatus(1, true, 0)
	s.CountStatus(1, true, 8)
	s.Count(1, false, 1)
	s.CountStatus(1, false, 8)
	if s.PDUsIn[1].Load() != 2 || s.PDUsOut[1].Load() != 1 || s.PDUsIn[0].Load() != 0 {
		t.Error("PDUs are counted wrongly")
	}
	for n := range uint32(2 * maxStatuses) { // a peer can make them up
		s.CountStatus(0, true, n+1)
	}
	s.CountStatus(1, true, 8)
	got := s.Statuses()
	if got[StatusKey{1, true, 8}] != 2 || got[StatusKey{1, false, 8}] != 1 || len(got) != maxStatuses {
		t.Errorf("%d statuses, %d and %d of 8", len(got), got[StatusKey{1, true, 8}], got[StatusKey{1, false, 8}])
	}
	s.SessionOver(10, 1)
	s.SessionOver(30, 5)
	if d, p := s.Sessions(); d.Mean() != 20 || p.Max != 5 || p.Count != 2 {
		t.Errorf("%+v, %+v", d, p)
	}
}

// A connector that is opened on demand is up until a connection failed.
func TestUp(t *testing.T) {
	no := false
	c := newConnector(1, 1)
	c.SetConfig(&config.Connector{Direction: config.Out, Static: &no, MaxQueue: 2})
	want := func(why string, want bool) {
		t.Helper()
		if c.Up() != want {
			t.Errorf("%s: up %t", why, c.Up())
		}
	}
	want("nothing tried", true)
	c.Stats.Failing.Store(1)
	want("failed", false)
	c.SetOnline(1)
	want("one is there", true)
	c.Removed.Store(true)
	want("removed", false)
	c.Queued.Store(1)
	if c.Room() != 1 {
		t.Error("no room for a second")
	}
	c.Queued.Add(1)
	if c.Room() > 0 {
		t.Error("room for a third")
	}
}
