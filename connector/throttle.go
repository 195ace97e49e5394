package connector

import "pmg/internal/ratelimit"

// A Throttle decides when a lane may send: not while an operator holds the connector, not during a
// pause, and not faster than the rate.
type Throttle struct {
	lane    *Lane
	limiter ratelimit.Limiter
	rate    int
	paused  int64 // nothing is sent before this time
}

// wait returns for how long nothing may be sent. If the result is 0 or negative, the lane may send
// now.
func (t *Throttle) wait(now int64) int64 {
	if rate := t.lane.Config().Rate; rate != t.rate {
		t.rate = rate
		t.limiter.SetRate(rate, 0)
	}
	return max(t.paused-now, t.limiter.Wait(now))
}

// holds reports whether an operator holds the connector. until is when the hold ends; 0 means that
// it has no end.
func (t *Throttle) holds(now int64) (held bool, until int64) {
	if t.lane.ToClient() {
		return false, 0
	}
	h := t.lane.Home().Hold()
	if h == nil {
		return false, 0
	}
	if h.Until == 0 || now < h.Until {
		return true, h.Until
	}
	if t.lane.Home().hold.CompareAndSwap(h, nil) {
		t.lane.policy.Links.HoldOver(t.lane)
	}
	return false, 0
}

// Pause stops messages from leaving until the time until.
func (t *Throttle) Pause(until int64) { t.paused = max(t.paused, until) }
