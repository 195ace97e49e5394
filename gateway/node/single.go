package node

import (
	"sync"
	"sync/atomic"
)

// A Single runs functions on goroutines of its own, at most one at a time.
type Single struct {
	busy    atomic.Bool
	running sync.WaitGroup
}

// Begin runs f on a goroutine, unless the previous function is still running.
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
