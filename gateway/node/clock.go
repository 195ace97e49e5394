package node

import (
	"sync/atomic"
	"time"
)

// A Clock relates the engine's clock, which never goes back and which all timers use,
// to the wall clock, which an administrator or NTP may set. Absolute times in PDUs, in the store
// and in events are by the wall clock of that moment. It is safe for concurrent use.
type Clock struct {
	// WallClock is time.Now and EngineClock is the time since the start. A simulation sets others.
	WallClock   func() time.Time
	EngineClock func() int64

	ahead atomic.Int64 // nanoseconds that the wall clock is ahead of the engine's clock
}

// Now returns the engine's time in nanoseconds. It does not follow steps of the machine's clock.
func (c *Clock) Now() int64 { return c.EngineClock() }

// WallNow returns the wall clock's time in Unix nanoseconds.
func (c *Clock) WallNow() int64 { return c.WallClock().UnixNano() }

// Ahead returns the nanoseconds that the wall clock is ahead of the engine's clock.
func (c *Clock) Ahead() int64 { return c.ahead.Load() }

// Wall converts a time of the engine's clock to the wall clock.
func (c *Clock) Wall(engine int64) int64 { return engine + c.ahead.Load() }

// newClock returns the clocks of the machine.
func newClock() Clock {
	began := time.Now()
	return Clock{WallClock: time.Now, EngineClock: func() int64 { return began.UnixNano() + int64(time.Since(began)) }}
}

// leastStep is the smallest difference that counts as a step of the wall clock. A smaller difference is the time since the
// engine's batch began.
const leastStep = int64(50 * time.Millisecond)

// See compares now, a time of the engine's clock, with the wall clock, and records the difference.
func (c *Clock) See(now int64) {
	if ahead := c.WallNow() - now; ahead > c.ahead.Load()+leastStep || ahead < c.ahead.Load()-leastStep {
		c.SetAhead(ahead)
	}
}

// SetAhead sets the nanoseconds that the wall clock is ahead of the engine's clock.
func (c *Clock) SetAhead(n int64) { c.ahead.Store(n) }
