package loadtest

import (
	"sync"
	"sync/atomic"
)

// A supply hands out the numbers of the messages to send. With a plan (an
// open loop) a number becomes available at its planned time; without one (a
// closed loop) all are available at once and the windows set the pace. Messages
// that the peer was too busy for can be given back, to be sent again later.
type supply struct {
	first int64 // the number of the first message
	limit int64 // how many there are; 0: no end
	plan  *plan // nil in a closed loop

	taken   atomic.Int64 // how many were handed out, resent ones not counted again
	stopped atomic.Bool

	waiting atomic.Int64 // len(again), read without the lock
	mu      sync.Mutex
	again   []giveBack // by time: the pause is the same for all
}

type giveBack struct{ number, at int64 }

// take hands out up to most new numbers, the first of which it gives.
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

// available tells how many more may be taken now, at most most.
func (s *supply) available(now, taken, most int64) int64 {
	if s.limit > 0 {
		most = min(most, s.limit-taken)
	}
	if s.plan != nil {
		most = min(most, s.plan.due(now)-taken)
	}
	return most
}

// intended is when the number should have been sent: from then its latency counts.
func (s *supply) intended(number, now int64) int64 {
	if s.plan == nil {
		return now
	}
	return min(now, s.plan.at(number-s.first))
}

// putBack has the number handed out again at a later time.
func (s *supply) putBack(number, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.Load() {
		return
	}
	s.again = append(s.again, giveBack{number, at})
	s.waiting.Store(int64(len(s.again)))
}

// takeAgain hands out a number that was put back and whose time has come.
func (s *supply) takeAgain(now int64) (int64, bool) {
	if s.waiting.Load() == 0 {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.again) == 0 || s.again[0].at > now {
		return 0, false
	}
	number := s.again[0].number
	s.again = s.again[1:]
	s.waiting.Store(int64(len(s.again)))
	return number, true
}

// ready tells about how many numbers could be handed out now.
func (s *supply) ready(now int64, most int) int {
	n := s.waiting.Load()
	if !s.stopped.Load() {
		n += max(0, s.available(now, s.taken.Load(), int64(most)))
	}
	return int(min(n, int64(most)))
}

// stop ends the supply; what waits to be sent again is given up.
func (s *supply) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped.Store(true)
	s.again = nil
	s.waiting.Store(0)
}

// exhausted tells that no number will be handed out any more, except those
// that may still be put back.
func (s *supply) exhausted() bool {
	if s.stopped.Load() {
		return true
	}
	return s.limit > 0 && s.taken.Load() >= s.limit && s.waiting.Load() == 0
}
