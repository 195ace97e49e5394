package turns

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// A queue is work that waits in a Turns whose only place is taken.
type queue struct {
	*testing.T
	*Turns[netip.Prefix]
	mu   sync.Mutex
	done []string
}

// newQueue runs a test in a bubble.
func newQueue(t *testing.T, most int, test func(q *queue)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{T: t, Turns: New[netip.Prefix](1, most)}
		if !q.Take(netip.Prefix{}, nil) {
			t.Fatal("the place is not free")
		}
		test(q)
		if q.waits != 0 || len(q.waiting) != 0 || len(q.order) != 0 || q.free != 1 {
			t.Errorf("what is left: %+v", q.Turns)
		}
	})
}

// add begins work, and waits until it waits.
func (q *queue) add(addr, name string, gone <-chan struct{}) {
	go func() {
		took := q.Take(Network(netip.MustParseAddr(addr)), gone)
		q.mu.Lock()
		q.done = append(q.done, map[bool]string{true: name, false: "no " + name}[took])
		q.mu.Unlock()
		if took {
			q.Give()
		}
	}()
	synctest.Wait()
}

// want gives the place back and compares what was done.
func (q *queue) want(all ...string) {
	q.Helper()
	q.Give()
	synctest.Wait()
	if !slices.Equal(q.done, all) {
		q.Errorf("got %q, want %q", q.done, all)
	}
}

// Networks take turns, whatever each of them sends; an IPv6 network is a /48, an IPv4 network a /24.
func TestTurns(t *testing.T) {
	newQueue(t, 100, func(q *queue) {
		for i := range 4 {
			q.add(fmt.Sprintf("2001:db8:1:%d::1", i), fmt.Sprint("flood ", i), nil)
		}
		q.add("192.0.2.1", "one", nil)
		q.add("::ffff:192.0.2.99", "two", nil)
		q.add("192.0.3.1", "other", nil)
		q.want("flood 0", "one", "other", "flood 1", "two", "flood 2", "flood 3")
	})
}

// Where too many wait, a network makes room for others, and none for itself.
func TestRoom(t *testing.T) {
	newQueue(t, 3, func(q *queue) {
		q.add("192.0.2.1", "a1", nil)
		q.add("192.0.2.2", "a2", nil)
		q.add("192.0.2.3", "a3", nil)
		q.add("192.0.2.4", "a4", nil) // refused
		q.add("192.0.3.1", "b1", nil) // in the place of a3
		q.add("192.0.3.1", "b2", nil) // refused: as much as the other has
		q.add("192.0.4.1", "c1", nil) // in the place of a2
		q.add("192.0.5.1", "d1", nil) // refused: each has one
		q.want("no a4", "no a3", "no b2", "no a2", "no d1", "a1", "b1", "c1")
	})
}

// Work whose sender is gone gives its room back, and runs for nobody.
func TestGone(t *testing.T) {
	newQueue(t, 1000, func(q *queue) {
		gone := make(chan struct{})
		for i := range 500 {
			q.add(fmt.Sprintf("192.0.%d.1", i%250), "dead", gone)
		}
		q.add("198.51.100.1", "alive", nil)
		close(gone)
		synctest.Wait()
		if q.Waiting() != 1 {
			t.Errorf("%d wait", q.Waiting())
		}
		q.done = nil
		q.want("alive")
	})
}

// Work whose sender goes in the moment of its turn gives the place on.
func TestGoneInTurn(t *testing.T) {
	newQueue(t, 10, func(q *queue) {
		gone := make(chan struct{})
		q.add("192.0.2.1", "dead", gone)
		close(gone) // it may be that it sees first that it has a place
		q.want("no dead")
		if q.Take(netip.Prefix{}, nil); q.free != 0 {
			t.Error("the place is lost")
		}
		q.Give()
	})
}
