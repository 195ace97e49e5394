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

// count returns how often the lock was taken, not counting this call.
func (l *lock) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// A signal wakes the one goroutine that waits for it. If none waits, the next wait returns
// immediately.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // a wake-up is pending already
	}
}
