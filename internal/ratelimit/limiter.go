package ratelimit

// second is a second in nanoseconds, the unit of all times here.
const second = 1_000_000_000

// A Limiter keeps one rate. It is not safe for concurrent use. Its zero value
// does not limit.
type Limiter struct {
	interval int64 // time between two messages on schedule; 0: no limit
	slack    int64 // maximum time that a message may be ahead of schedule
	due      int64 // time at which the next message is due
}

// New returns a limiter of rate messages per second, 0 for no limit. After a pause burst messages may come together; less than
// 1 means DefaultBurst.
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

// DefaultBurst returns a twentieth of a second's worth, at least 1. It is small,
// so that a peer that counts messages in any window sees the rate kept. It is
// large enough that a sender that wakes every few milliseconds keeps the rate.
func DefaultBurst(rate int) int { return max(rate/20, 1) }

// Reserve takes the place of the next message, and returns the nanoseconds from now until its time. The place is taken even if
// the message must wait.
func (l *Limiter) Reserve(now int64) int64 {
	if l.interval == 0 {
		return 0
	}
	due := max(l.due, now)
	l.due = due + l.interval
	return max(due-l.slack-now, 0)
}

// Wait returns the result that Reserve would return, without taking a place.
func (l *Limiter) Wait(now int64) int64 {
	if l.interval == 0 {
		return 0
	}
	return max(l.due-l.slack-now, 0)
}

// SetRate changes the rate and keeps the schedule, so that a reload does not allow a burst.
func (l *Limiter) SetRate(rate, burst int) {
	due := l.due
	*l = New(rate, burst)
	l.due = due
}
