package loadtest

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A supply hands out the numbers of the messages to send. With a plan (an open loop) a
// number becomes available at its planned time; without one (a closed loop) all numbers
// are available from the beginning and the windows set the pace. Throttled messages can
// be requeued, to be sent again later.
type supply struct {
	first int64 // the number of the first message
	limit int64 // how many there are; 0: no end
	plan  *plan // nil in a closed loop

	taken   atomic.Int64 // how many were handed out; requeued ones count once
	stopped atomic.Bool

	waiting  atomic.Int64 // len(requeued), read without the lock
	mu       sync.Mutex
	requeued []requeuedNumber // sorted by time, because the pause is the same for all
}

type requeuedNumber struct{ number, at int64 }

// take takes up to most new numbers. They are consecutive, and it returns the first and
// how many there are.
func (s *supply) take(now int64, most int) (first int64, n int) {
	for most > 0 && !s.stopped.Load() {
		taken := s.taken.Load()
		n := s.available(now, taken, int64(most))
		if n <= 0 {
			break
		}
		if s.taken.CompareAndSwap(taken, taken+n) {
			return s.first + taken, int(n)
		}
	}
	return 0, 0
}

// available returns how many more numbers may be taken now, at most most.
func (s *supply) available(now, taken, most int64) int64 {
	if s.limit > 0 {
		most = min(most, s.limit-taken)
	}
	if s.plan != nil {
		most = min(most, s.plan.due(now)-taken)
	}
	return most
}

// intended returns the time at which the number should have been sent. Its latency is
// measured from that time.
func (s *supply) intended(number, now int64) int64 {
	if s.plan == nil {
		return now
	}
	return min(now, s.plan.at(number-s.first))
}

// requeue makes the number available again at a later time. It returns false if the supply
// has ended.
func (s *supply) requeue(number, at int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.Load() {
		return false
	}
	s.requeued = append(s.requeued, requeuedNumber{number, at})
	s.waiting.Store(int64(len(s.requeued)))
	return true
}

// takeRequeued takes a requeued number whose time has come, and reports whether there is
// one.
func (s *supply) takeRequeued(now int64) (int64, bool) {
	if s.waiting.Load() == 0 {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requeued) == 0 || s.requeued[0].at > now {
		return 0, false
	}
	number := s.requeued[0].number
	s.requeued = s.requeued[1:]
	s.waiting.Store(int64(len(s.requeued)))
	return number, true
}

// ready returns an estimate of how many numbers could be taken now, at most most.
func (s *supply) ready(now int64, most int) int {
	n := s.waiting.Load()
	if !s.stopped.Load() {
		n += max(0, s.available(now, s.taken.Load(), int64(most)))
	}
	return int(min(n, int64(most)))
}

// stop ends the supply and drops requeued numbers.
func (s *supply) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped.Store(true)
	s.requeued = nil
	s.waiting.Store(0)
}

// exhausted reports whether no number is left, apart from those that may still be
// requeued.
func (s *supply) exhausted() bool {
	if s.stopped.Load() {
		return true
	}
	return s.limit > 0 && s.taken.Load() >= s.limit && s.waiting.Load() == 0
}

// The longest and the shortest slot. The pacer wakes often enough that messages to be
// sent again do not wait long, but not for every message of a high rate: then a slot has
// more than one.
const (
	maxSlot = 10 * time.Millisecond
	minSlot = 250 * time.Microsecond
)

// A plan sets the time at which to send each message of an open loop, whatever the
// peer does: message i in the first slot that begins at or after i/rate. Slots begin at
// the wake-ups of the pacer, so that the pacer can meet every planned time.
type plan struct {
	start   int64   // time of slot 0
	slot    int64   // nanoseconds between slots
	perSlot float64 // messages
}

func newPlan(start int64, rate float64) *plan {
	gap := float64(time.Second) / rate
	slot := max(minSlot, time.Duration(gap/math.Ceil(gap/float64(maxSlot))))
	return &plan{start: start, slot: int64(slot), perSlot: rate * slot.Seconds()}
}

// due returns how many messages should have been sent by now.
func (p *plan) due(now int64) int64 {
	slots := (now - p.start) / p.slot
	return int64(float64(slots)*p.perSlot) + 1
}

// at returns the planned time of message i.
func (p *plan) at(i int64) int64 {
	return p.start + int64(math.Ceil(float64(i)/p.perSlot))*p.slot
}
