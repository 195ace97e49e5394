package ratelimit

import "sync/atomic"

// A Shared limits one rate for many goroutines, and limits the number of messages that wait for their time. Its zero value
// does not limit.
type Shared struct {
	terms atomic.Pointer[terms] // nil: no limit
	due   atomic.Int64          // time at which the next message is due
}

// terms are the options that may change while the schedule continues.
type terms struct {
	interval, slack int64
	longest         int64 // longest time that a message may wait
}

// Bounds of the number of messages that may wait. Between them it is as many as the rate allows in a second.
const (
	leastWaiting = 10
	mostWaiting  = 10_000
)

// SetRate changes the rate and keeps the schedule, so that a reload does not allow a burst. The parameters are those of New.
func (s *Shared) SetRate(rate, burst int) {
	l := New(rate, burst)
	if l.interval == 0 {
		s.terms.Store(nil)
		return
	}
	waiting := min(max(rate, leastWaiting), mostWaiting)
	s.terms.Store(&terms{l.interval, l.slack, int64(waiting) * l.interval})
}

// Admit takes the place of the next message. Its time is wait nanoseconds from now; until then its sender should not be read.
// If too many messages wait already, Admit takes no place and returns false, and wait is the time until a place is free.
//
// A place stays taken, even if the sender disconnects.
func (s *Shared) Admit(now int64) (wait int64, ok bool) { return s.admit(now, 1) }

// AdmitOfMany admits one of many messages that come together. Only half as many may wait, so that single messages find places.
func (s *Shared) AdmitOfMany(now int64) (wait int64, ok bool) { return s.admit(now, 2) }

// admit admits a message, unless too many wait already; part divides the number that may wait.
func (s *Shared) admit(now, part int64) (wait int64, ok bool) {
	t := s.terms.Load()
	if t == nil {
		return 0, true
	}
	for {
		due := s.due.Load()
		start := max(due, now)
		wait = max(start-t.slack-now, 0)
		if longest := t.longest / part; wait > longest {
			return wait - longest, false
		}
		if s.due.CompareAndSwap(due, start+t.interval) {
			return wait, true
		}
	}
}

// Take takes the places of n messages, even if they must wait, and returns the wait of the first.
func (s *Shared) Take(now, n int64) (wait int64) {
	t := s.terms.Load()
	if t == nil {
		return 0
	}
	for {
		due := s.due.Load()
		start := max(due, now)
		if s.due.CompareAndSwap(due, start+n*t.interval) {
			return max(start-t.slack-now, 0)
		}
	}
}

// Left returns the number of messages that need not wait now, and the nanoseconds until a whole burst need not wait. It takes
// no place.
func (s *Shared) Left(now int64) (n, whole int64) {
	t := s.terms.Load()
	if t == nil {
		return 0, 0
	}
	whole = max(s.due.Load()-now, 0)
	if whole > t.slack {
		return 0, whole
	}
	return (t.slack-whole)/t.interval + 1, whole
}
