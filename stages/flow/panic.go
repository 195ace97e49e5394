package flow

import (
	"runtime/debug"
	"slices"
)

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
	if r.out.has(j) {
		j = nil
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

// has reports whether the stage has passed j on since the last delivery.
func (o *Out[J]) has(j *J) bool {
	for _, s := range append(o.groups[:len(o.groups):len(o.groups)], o.near) {
		for _, list := range s.lists {
			if slices.Contains(list, j) {
				return true
			}
		}
	}
	return false
}

// panickedOutside counts a panic and passes it to OnPanic, as panicked does, on a goroutine that
// does not hold the claim on r. It makes a row with its own Out.
func (r *row[J]) panickedOutside(j *J, v any) {
	p := r.p
	own := &row[J]{
		p: p, name: r.name, index: r.index, number: r.number, shared: r.shared, group: r.group, to: r.to, waits: r.waits,
	}
	own.out = own.newOut()
	own.out.now = p.Now()
	own.panicked(j, v)
	claims := p.deliver(own)
	own.out.cache.Drain()
	r.inbox.count(&own.stats)
	wake(r.group, claims)
}
