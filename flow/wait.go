package flow

import "sync"

// defaultWaits is Spec.Waits where a row does not say.
const defaultWaits = 16

// waits runs what must wait, so that its stage does not: dialing, slow password
// hashes. Each row has its own, so that one kind of wait cannot hold up another. Its
// goroutines end when nothing is queued.
type waits[J any] struct {
	limit int // goroutines
	wg    sync.WaitGroup

	mu    sync.Mutex
	now   int // goroutines
	queue []wait[J]
}

// A wait is a function that runs outside the stages, and the job that comes back.
type wait[J any] struct {
	row *row[J] // whose stage called Go
	to  int
	job *J
	f   func()
}

// Go runs f outside the stages, because it may wait, and then hands j to the row with
// that index. At most Spec.Waits functions of a stage run together, the others queue. A
// panic of f counts as one of the stage, at j.
func (o *Out[J]) Go(row int, j *J, f func()) {
	o.row.p.check(o.row, row, j)
	o.row.waits.add(wait[J]{row: o.row, to: row, job: j, f: f})
}

func (all *waits[J]) add(w wait[J]) {
	all.wg.Add(1)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.now < all.limit {
		all.now++
		go all.loop(w)
		return
	}
	all.queue = append(all.queue, w)
}

// loop runs w and then what is queued.
func (all *waits[J]) loop(w wait[J]) {
	for more := true; more; w, more = all.next() {
		w.run()
		all.wg.Done()
	}
}

// next returns the next wait in the queue. When there is none, more is false and the
// calling goroutine ends.
func (all *waits[J]) next() (w wait[J], more bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.queue) == 0 {
		all.now--
		return w, false
	}
	w, all.queue[0] = all.queue[0], w
	all.queue = all.queue[1:]
	return w, true
}

// run runs the function and hands the job on.
func (w wait[J]) run() {
	defer func() {
		if v := recover(); v != nil {
			w.row.panickedOutside(w.job, v)
		}
	}()
	w.f()
	w.row.p.insert(w.to, w.job)
}
