package pdulog

import (
	"sync"
	"time"

	"pmg/protocols"
)

// A Clock returns the time of the engine's clock, and converts it to the wall clock's.
type Clock interface {
	Now() int64
	Wall(engine int64) int64
}

// A Shared is the pdu log of a connector without sessions, for the goroutines of its requests.
type Shared struct {
	file  *File // nil: PDUs are not logged
	clock Clock

	mu     sync.Mutex
	timer  *time.Timer // flushes waiting lines; nil: no lines wait
	closed bool
}

// Share returns the pdu log of a connector; f is nil if PDUs are not logged. Goroutines with Files have a file of their own then.
func Share(f *File, c Clock) *Shared {
	if f != nil {
		f.shared.Store(true)
	}
	return &Shared{file: f, clock: c}
}

// Enabled reports whether PDUs are logged; nil logs none.
func (l *Shared) Enabled() bool { return l != nil && l.file != nil }

// Line adds a line. Its instance is 1: requests have none.
func (l *Shared) Line(received bool, p protocols.PDU, about About) {
	if !l.Enabled() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	now := l.clock.Wall(l.clock.Now())
	l.file.Line(now, 1, received, p, LoggedIn, about)
	if due := l.file.Due(); due != 0 && l.timer == nil {
		l.timer = time.AfterFunc(max(time.Duration(due-now), time.Millisecond), l.flush)
	}
}

// Close ends the log: the file is closed by those who have opened it.
func (l *Shared) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// flush passes the lines that wait to the disk.
func (l *Shared) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.timer = nil
	now := l.clock.Wall(l.clock.Now())
	l.file.Flush(now)
	if due := l.file.Due(); due != 0 { // the line did not fit into memory
		l.timer = time.AfterFunc(max(time.Duration(due-now), time.Millisecond), l.flush)
	}
}
