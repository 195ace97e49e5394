package ratelimit

// second is in nanoseconds, the unit of every time here.
const second = 1_000_000_000

// A Limiter keeps one rate. It is not safe for concurrent use, and its zero
// value does not limit.
type Limiter struct {
	interval int64 // between two messages on schedule; 0: no limit
	slack    int64 // how far ahead of schedule a message may be
	due      int64 // when the next message is on schedule
}

// New makes a limiter of rate messages per second, 0 for no limit. After a rest
// burst messages may go at once; less than 1 means DefaultBurst.
func New(rate, burst int) Limiter {
	if rate <= 0 {
		return Limiter{}
	}
	if burst < 1 {
		burst = DefaultBurst(rate)
	}
	interval := max(second/int64(rate), 1)
	return Limiter{interval: interval, slack: int64(burst-1) * interval}
}

// DefaultBurst is a twentieth of a second's worth, at least 1: small, so that a
// peer that counts in any window sees the rate kept, but enough that a sender
// which only wakes every few milliseconds loses nothing.
func DefaultBurst(rate int) int { return max(rate/20, 1) }

// Reserve takes the next message's place and gives the nanoseconds from now
// until its time; 0 means at once. The place is taken either way.
func (l *Limiter) Reserve(now int64) int64 {
	if l.interval == 0 {
		return 0
	}
	due := max(l.due, now)
	l.due = due + l.interval
	return max(due-l.slack-now, 0)
}

// Wait gives what Reserve would, without taking a place.
func (l *Limiter) Wait(now int64) int64 {
	if l.interval == 0 {
		return 0
	}
	return max(l.due-l.slack-now, 0)
}

// Cancel gives back the place of the last Reserve, when its message was not sent.
func (l *Limiter) Cancel() { l.due -= l.interval }

// SetRate changes the rate and keeps the schedule, so that a reload is no burst.
func (l *Limiter) SetRate(rate, burst int) {
	due := l.due
	*l = New(rate, burst)
	l.due = due
}
