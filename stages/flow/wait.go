package flow

import "sync"

// defaultWaits is used if Spec.Waits is 0.
const defaultWaits = 16

// waits runs functions that block, such as dialing or slow password hashes, outside their stage.
// Each row has its own waits, so that one kind of function cannot hold up another. The goroutines
// end when no function is queued.
type waits[J any] struct {
	limit int // maximum number of goroutines
	wg    sync.WaitGroup

	mu    sync.Mutex
	now   int // number of running goroutines
	queue []wait[J]
}

// A wait is a function that runs outside of the stages, and the job that is sent after it.
type wait[J any] struct {
	row *row[J] // the row whose stage called Go
	to  int
	job *J
	f   func()
}

// Go runs f outside the stages, because f may block, and then hands j to the row with that index.
// At most Spec.Waits functions of a stage run at the same time. Further functions are queued. A
// panic of f is handled like a panic of the stage at j.
func (o *Out[J]) Go(row int, j *J, f func()) {
	o.row.p.check(o.row, row, j)
	o.row.p.checkNear(o.row, row)
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

// loop runs w, and afterwards the queued functions.
func (all *waits[J]) loop(w wait[J]) {
	for more := true; more; w, more = all.next() {
		w.run()
		all.wg.Done()
	}
}

// next returns the next wait in the queue. If the queue is empty, more is false and the calling
// goroutine must end.
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

// run runs the function and then passes the job on.
func (w wait[J]) run() {
	defer func() {
		if v := recover(); v != nil {
			w.row.panickedOutside(w.job, v)
		}
	}()
	w.f()
	w.row.group[w.to].insert(w.job)
}
