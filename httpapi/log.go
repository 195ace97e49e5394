package httpapi

import (
	"sync"
	"time"

	"pmg/gateway/node"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
)

// A log is a connector's pdu log, for the goroutines of its requests.
type log struct {
	file  *pdulog.File // nil: PDUs are not logged
	clock *node.Clock

	mu     sync.Mutex
	timer  *time.Timer // flushes what waits; nil: nothing waits
	closed bool
}

// line adds a line. instance is 1: requests have none.
func (l *log) line(received bool, p *httpsms.PDU, about pdulog.About) {
	if l.file == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	now := l.clock.Wall(l.clock.Now())
	l.file.Line(now, 1, received, p, pdulog.LoggedIn, about)
	if due := l.file.Due(); due != 0 && l.timer == nil {
		l.timer = time.AfterFunc(max(time.Duration(due-now), time.Millisecond), l.flush)
	}
}

// close ends the log: the file is closed by those who have opened it.
func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// flush passes the lines that wait to the disk.
func (l *log) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.timer = nil
	now := l.clock.Wall(l.clock.Now())
	l.file.Flush(now)
	if due := l.file.Due(); due != 0 { // there was no room for it
		l.timer = time.AfterFunc(max(time.Duration(due-now), time.Millisecond), l.flush)
	}
}
