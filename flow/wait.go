package flow

import "sync"

// maxWaiters bounds how many waits go on at once.
const maxWaiters = 16

// waiters runs what must wait, so that no stage does: name look-ups, slow
// password hashes. Its goroutines end when there is nothing to wait for.
type waiters struct {
	wg sync.WaitGroup

	mu     sync.Mutex
	at     int // goroutines
	queued []func()
}

// await runs f, which may wait, outside the stages, and hands j on.
func (p *Pipeline[J]) await(r *row[J], to int, j *J, f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.panickedOutside(j, v)
		}
	}()
	f()
	p.insert(to, j)
}

func (w *waiters) run(task func()) {
	w.wg.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at < maxWaiters {
		w.at++
		go w.loop(task)
		return
	}
	w.queued = append(w.queued, task)
}

func (w *waiters) loop(task func()) {
	for task != nil {
		task()
		w.wg.Done()
		w.mu.Lock()
		task = nil
		if len(w.queued) > 0 {
			task, w.queued = w.queued[0], w.queued[1:]
		} else {
			w.at--
		}
		w.mu.Unlock()
	}
}

func (w *waiters) wait() { w.wg.Wait() }
