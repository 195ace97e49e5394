package flow

import "sync"

// defaultWaits is Spec.Waits where a row does not say.
const defaultWaits = 16

// waits runs what must wait, so that its stage does not: name look-ups, slow password
// hashes. Each row has its own, so that one kind of wait cannot hold up another. Its
// goroutines end when nothing is queued.
type waits[J any] struct {
	limit int // goroutines
	wg    sync.WaitGroup

	mu    sync.Mutex
	now   int // goroutines
	queue []*Wait[J]
}

// A Wait is a function that Out.Go runs outside the stages, now or later. Any
// goroutine may call its methods.
type Wait[J any] struct {
	row   *row[J] // whose stage called Go
	to    int
	job   *J
	f     func()
	state waitState // guarded by row.waits.mu
}

type waitState uint8

const (
	queued waitState = iota
	begun
	cancelled
)

// Go runs f outside the stages, because it may wait, and then hands j to the row with
// that index. At most Spec.Waits functions of a stage run together, the others queue. A
// panic of f counts as one of the stage, at j.
func (o *Out[J]) Go(row int, j *J, f func()) *Wait[J] {
	o.row.p.check(o.row, row, j)
	w := &Wait[J]{row: o.row, to: row, job: j, f: f}
	o.row.waits.add(w)
	return w
}

// Cancel drops the wait if its function has not begun: that will not run, and the job
// goes to its row immediately. It reports whether it has done so.
func (w *Wait[J]) Cancel() bool {
	all := w.row.waits
	all.mu.Lock()
	if w.state != queued {
		all.mu.Unlock()
		return false
	}
	w.state, w.f = cancelled, nil // the queue is shortened when its turn comes
	all.mu.Unlock()
	defer all.wg.Done()
	w.row.p.insert(w.to, w.job)
	return true
}

// Cancelled reports whether Cancel has dropped the wait. A stage that gets the job
// back learns from it that the function has not run.
func (w *Wait[J]) Cancelled() bool {
	w.row.waits.mu.Lock()
	defer w.row.waits.mu.Unlock()
	return w.state == cancelled
}

func (all *waits[J]) add(w *Wait[J]) {
	all.wg.Add(1)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.now < all.limit {
		all.now++
		w.state = begun
		go all.loop(w)
		return
	}
	all.queue = append(all.queue, w)
}

// loop runs w and then what is queued.
func (all *waits[J]) loop(w *Wait[J]) {
	for ; w != nil; w = all.next() {
		w.run()
		all.wg.Done()
	}
}

// next returns the next wait in the queue, as begun. Without one it returns nil, and
// the calling goroutine ends.
func (all *waits[J]) next() *Wait[J] {
	all.mu.Lock()
	defer all.mu.Unlock()
	for len(all.queue) > 0 {
		w := all.queue[0]
		all.queue[0] = nil
		all.queue = all.queue[1:]
		if w.state == queued {
			w.state = begun
			return w
		}
	}
	all.now--
	return nil
}

// run runs the function and hands the job on.
func (w *Wait[J]) run() {
	defer func() {
		if v := recover(); v != nil {
			w.row.panickedOutside(w.job, v)
		}
	}()
	w.f()
	w.row.p.insert(w.to, w.job)
}
