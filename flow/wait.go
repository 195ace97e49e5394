package flow

import "sync"

// maxWaiters bounds how many waits go on at once.
const maxWaiters = 16

// waiters runs what must wait, so that no stage does: name look-ups, slow
// password hashes. Its goroutines end when there is nothing to wait for.
type waiters[J any] struct {
	inject func(row int, j *J)
	wg     sync.WaitGroup

	mu     sync.Mutex
	at     int // goroutines
	queued []func()
}

func (w *waiters[J]) run(row int, f func() *J) {
	w.wg.Add(1)
	task := func() {
		defer w.wg.Done()
		if j := f(); j != nil {
			w.inject(row, j)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at < maxWaiters {
		w.at++
		go w.loop(task)
		return
	}
	w.queued = append(w.queued, task)
}

func (w *waiters[J]) loop(task func()) {
	for task != nil {
		task()
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

func (w *waiters[J]) wait() { w.wg.Wait() }
