package classic

import "sync"

// A lock is a mutex that counts how often it is taken.
type lock struct {
	mu    sync.Mutex
	taken int64
}

// Lock implements sync.Locker.
func (l *lock) Lock() {
	l.mu.Lock()
	l.taken++
}

// Unlock implements sync.Locker.
func (l *lock) Unlock() { l.mu.Unlock() }

// count tells how often it was taken, this time not among them.
func (l *lock) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// A signal wakes the one goroutine that waits for it, or its next wait.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // it is to be woken already
	}
}
