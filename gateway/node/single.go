package node

import (
	"sync"
	"sync/atomic"
)

// A Single runs work on goroutines of its own, one at any time.
type Single struct {
	busy    atomic.Bool
	running sync.WaitGroup
}

// Begin runs f, unless the work before has not ended.
func (l *Single) Begin(f func()) {
	if l.busy.Swap(true) {
		return
	}
	l.running.Go(func() {
		defer l.busy.Store(false)
		f()
	})
}

// Wait waits until no work runs.
func (l *Single) Wait() { l.running.Wait() }
