package plugin

import (
	"sync"
	"time"
)

// Of a breaker.
const (
	maxFailures = 10          // in a row, then the plugin rests
	firstRest   = time.Second // it doubles with each failure behind a rest
	longestRest = time.Minute
)

// A breaker spares a plugin that fails: after maxFailures in a row nobody asks it for a while, then one does.
type breaker struct {
	mu     sync.Mutex
	failed int           // in a row
	rest   time.Duration // the latest one; 0: none since the last answer
	until  time.Time     // the end of the rest
	trying bool          // one asks, behind a rest
}

// may reports whether the plugin may be asked. Then done follows.
func (b *breaker) may(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.rest == 0:
		return true
	case b.trying || now.Before(b.until):
		return false
	}
	b.trying = true
	return true
}

// done notes whether a question was answered.
func (b *breaker) done(now time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case ok:
		b.failed, b.rest, b.trying = 0, 0, false
	case b.trying:
		b.trying = false
		b.begin(now, min(2*b.rest, longestRest))
	case b.rest == 0:
		if b.failed++; b.failed >= maxFailures {
			b.begin(now, firstRest)
		}
	}
}

func (b *breaker) begin(now time.Time, rest time.Duration) { b.rest, b.until = rest, now.Add(rest) }

// restsUntil returns until when it rests; zero: it does not.
func (b *breaker) restsUntil() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest == 0 {
		return time.Time{}
	}
	return b.until
}
