package plugin

import (
	"sync"
	"time"
)

// Limits of a breaker.
const (
	maxFailures = 10          // consecutive failures after which the plugin rests
	firstRest   = time.Second // first rest, which doubles with each failure after a rest
	longestRest = time.Minute
)

// A breaker stops questions to a plugin that fails. After maxFailures consecutive failures the plugin rests; then one
// question is tried.
type breaker struct {
	mu     sync.Mutex
	failed int           // consecutive failures
	since  time.Time     // time of the first of the consecutive failures
	rest   time.Duration // duration of the latest rest; 0: no rest since the last answer
	until  time.Time     // the end of the rest
	trying bool          // a trial is under way
}

// may reports whether the plugin may be asked, and whether this question is the trial after a rest. If the
// plugin may be asked, done follows.
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

// done records the outcome of a question. From the beginning of a rest to the end of its trial only the trial
// counts, because other questions were asked before the rest.
func (b *breaker) done(now time.Time, trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	if !trial && b.rest != 0 {
		return
	}
	if err == nil {
		b.failed, b.rest = 0, 0
		return
	}
	if b.failed++; b.failed == 1 {
		b.since = now
	}
	switch {
	case trial:
		b.begin(now, min(2*b.rest, longestRest))
	case b.failed >= maxFailures:
		b.begin(now, firstRest)
	}
}

// unasked records that a question was not asked after may has allowed it. It counts neither as a success nor as a failure.
func (b *breaker) unasked(trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
}

func (b *breaker) begin(now time.Time, rest time.Duration) { b.rest, b.until = rest, now.Add(rest) }

// rests returns the end of the plugin's rest, the beginning of its failures, and their number; zero: the plugin does not rest.
func (b *breaker) rests() (until, since time.Time, failures int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest == 0 {
		return time.Time{}, time.Time{}, 0
	}
	return b.until, b.since, b.failed
}
