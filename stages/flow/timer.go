package flow

import "time"

// time converts ns of the pipeline's clock to a time with a monotonic clock reading. So a change of
// the wall clock moves no deadline. ns = 0 becomes the zero time.
func (p *Pipeline[J]) time(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return p.start.Add(time.Duration(ns - p.startNS))
}

// tick calls the stage's Tick and records when the next call is due.
func (r *row[J]) tick() {
	r.tickNS = 0
	var d time.Duration
	r.guard(func() { d = r.ticker.Tick(&r.out) })
	if d > 0 {
		r.tickAt(r.out.now + int64(d))
	}
}

// tickAt records that Tick is due at ns by the pipeline's clock, unless an earlier time is
// recorded.
func (r *row[J]) tickAt(ns int64) {
	if r.tickNS != 0 && r.tickNS <= ns {
		return
	}
	r.tickNS = ns
	if r.source == nil { // a source needs no timer: its Wait ends at tickNS
		r.timer.Reset(time.Duration(ns - r.p.Now()))
	}
}
