package flow

import "runtime/debug"

// workFrom works on batch[i:] and returns where to go on. It is the panic boundary:
// a job at which the stage panics is passed to OnPanic, and the next one follows.
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

// guard runs the parts of a stage that are not about one job.
func (r *row[J]) guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(nil, v)
		}
	}()
	f()
}

// panicked counts a panic and passes it to OnPanic, with the job unless the stage had
// handed that on before it panicked.
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
			r.panicked(nil, again) // that one is reported too, without the job
		}
	}()
	r.p.onPanic(&r.out, r.name, j, v, debug.Stack())
}

// panickedOutside is panicked for a goroutine that does not hold the claim on r, and
// so needs a row with an Out of its own.
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
