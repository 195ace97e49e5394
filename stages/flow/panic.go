package flow

import "runtime/debug"

// workFrom works on batch[i:] and returns the index from which to continue. If the stage panics,
// workFrom recovers, passes the job to OnPanic, and returns the index of the next job.
func (r *row[J]) workFrom(batch []*J, i int) (next int) {
	defer func() {
		if v := recover(); v != nil {
			next = r.at + 1
			r.panicked(batch[r.at], v)
		}
	}()
	for ; i < len(batch); i++ {
		r.at = i
		r.p.check(r, r.index, batch[i])
		r.stage.Work(&r.out, batch[i])
	}
	return i
}

// guard runs a part of a stage that does not belong to one job, and recovers from panics.
func (r *row[J]) guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(nil, v)
		}
	}()
	f()
}

// panicked counts a panic and passes it to OnPanic. It passes the job too, unless the stage had
// already passed the job on.
func (r *row[J]) panicked(j *J, v any) {
	r.stats.Panics++
	for _, list := range r.out.lists {
		for _, sent := range list {
			if sent == j {
				j = nil
			}
		}
	}
	if r.p.onPanic == nil {
		return
	}
	defer func() {
		if again := recover(); again != nil && j != nil {
			r.panicked(nil, again) // reports the second panic too, but without the job
		}
	}()
	r.p.onPanic(&r.out, r.name, j, v, debug.Stack())
}

// panickedOutside counts a panic and passes it to OnPanic, as panicked does, on a goroutine that
// does not hold the claim on r. It makes a row with its own Out.
func (r *row[J]) panickedOutside(j *J, v any) {
	p := r.p
	own := &row[J]{p: p, name: r.name, index: r.index, to: r.to, waits: r.waits}
	own.out = Out[J]{row: own, lists: make([][]*J, len(p.rows)), now: p.Now(), cache: p.pool.NewCache()}
	own.panicked(j, v)
	claims := p.deliver(own)
	own.out.cache.Drain()
	r.inbox.count(&own.stats)
	p.wake(claims)
}
