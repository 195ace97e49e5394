package plugin

import (
	"errors"
	"sync"
	"time"
)

// Of a breaker.
const (
	maxFailures = 10          // in a row, then the plugin rests
	firstRest   = time.Second // it doubles with each failure behind a rest
	longestRest = time.Minute
)

// A breaker spares a plugin that fails: after maxFailures in a row it is not asked for a while, then about one message.
type breaker struct {
	mu     sync.Mutex
	failed int           // in a row
	rest   time.Duration // the latest one; 0: none since the last answer
	until  time.Time     // the end of the rest
	trying bool          // a trial is under way
}

// may reports whether the plugin may be asked, and whether this question is the trial behind a rest. If it may, done follows.
func (b *breaker) may(now time.Time) (ok, trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.rest == 0:
		return true, false
	case b.trying || now.Before(b.until):
		return false, false
	}
	b.trying = true
	return true, true
}

// done notes how a question ended. From the beginning of a rest to the end of its trial only the trial counts, because the
// others were asked before. errFull counts for nothing, because the plugin was not asked.
func (b *breaker) done(now time.Time, trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	switch {
	case errors.Is(err, errFull) || !trial && b.rest != 0:
	case err == nil:
		b.failed, b.rest = 0, 0
	case trial:
		b.begin(now, min(2*b.rest, longestRest))
	default:
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
