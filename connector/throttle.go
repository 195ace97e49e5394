package connector

import "pmg/internal/ratelimit"

// A Throttle says when a lane may send: not while an operator holds its connector, nor during a pause, and up to its rate.
type Throttle struct {
	lane    *Lane
	limiter ratelimit.Limiter
	rate    int
	paused  int64 // nothing is sent before this time
}

// wait returns how long nothing may be sent; 0 or less: something may.
func (t *Throttle) wait(now int64) int64 {
	if rate := t.lane.Config().Rate; rate != t.rate {
		t.rate = rate
		t.limiter.SetRate(rate, 0)
	}
	return max(t.paused-now, t.limiter.Wait(now))
}

// holds reports whether no message may leave, and until when; 0 has no end.
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

// Pause keeps messages from leaving until a time.
func (t *Throttle) Pause(until int64) { t.paused = max(t.paused, until) }
