package store

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"pmg/store/journal"
	"pmg/store/notes"
)

// A noteWriter writes notes to tables, on a goroutine that ends when they are written. It is safe for concurrent use.
type noteWriter struct {
	notes   *notes.Notes
	monitor *monitor

	mu      sync.Mutex
	running chan struct{} // closed when the goroutine ends; nil: none runs
	more    bool          // notes were frozen since the goroutine began
	err     error         // of the last attempt
	failing time.Time     // since when attempts fail
	broken  bool          // pebble has panicked
}

// begin begins to write the frozen notes, unless that is under way.
func (w *noteWriter) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more = w.running != nil; w.more || w.broken {
		return
	}
	w.running = make(chan struct{})
	go w.run()
}

func (w *noteWriter) run() {
	err, panicked := w.write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.err != nil {
		w.monitor.problem.Store(nil)
	}
	w.err, w.broken = err, w.broken || panicked
	if err == nil {
		w.failing = time.Time{}
	} else {
		w.failed(err)
	}
	if w.more && err == nil {
		w.more = false
		go w.run()
		return
	}
	close(w.running)
	w.running, w.more = nil, false
}

// write writes the frozen notes. It recovers from the panic that pebble raises if its manifest cannot be written.
func (w *noteWriter) write() (err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			err, panicked = fmt.Errorf("%v", p), true
		}
	}()
	return w.notes.WriteFrozen(), false
}

// failed records an error. An error that lasts is a fault, but on a full disk waiting is useful.
func (w *noteWriter) failed(err error) {
	if w.failing.IsZero() {
		w.failing = time.Now()
	}
	if w.broken || !errors.Is(err, syscall.ENOSPC) && time.Since(w.failing) >= flushAttempts*w.monitor.pause {
		w.monitor.fault.set(err)
		return
	}
	w.monitor.backgroundError(err)
}

// tryAgain writes notes whose writing has failed.
func (w *noteWriter) tryAgain() {
	w.mu.Lock()
	failed := w.err != nil
	w.mu.Unlock()
	if failed {
		w.begin()
	}
}

// wait waits until no notes are being written. It returns the error of the last attempt.
func (w *noteWriter) wait() error {
	w.mu.Lock()
	running, err := w.running, w.err
	w.mu.Unlock()
	if running == nil {
		return err
	}
	select {
	case <-running:
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.err
	case <-w.monitor.fault.done:
		return w.monitor.failure()
	}
}

// writeAll writes all notes of the records up to applied.
func (w *noteWriter) writeAll(applied journal.Seq) error {
	for {
		if err := w.wait(); err != nil {
			w.begin()
			if err := w.wait(); err != nil {
				return err
			}
		}
		if w.notes.Freeze(applied) {
			w.begin()
			return w.wait()
		}
		w.begin()
	}
}

// stop waits until no notes are being written. It returns false if pebble cannot be closed, because after a fault its calls may
// never return.
func (w *noteWriter) stop() bool {
	w.notes.StopMerges()
	w.mu.Lock()
	running := w.running
	w.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-w.monitor.fault.done:
			select {
			case <-running:
			case <-time.After(closePauses * w.monitor.pause):
				return false
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.broken
}
