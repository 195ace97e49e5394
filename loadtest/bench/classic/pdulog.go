package classic

import (
	"time"

	"pmg/connector"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// A pduLog is the pdu log of a connector, which its connections share.
type pduLog struct {
	now  func() int64
	file *pdulog.File

	mu     lock
	last   int64       // time of the last line, so that times do not go back when goroutines overtake each other
	timer  *time.Timer // calls due
	closed bool
}

// newPDULog returns the pdu log of a file. Without a file it returns nil, which logs nothing.
func newPDULog(file *pdulog.File, now func() int64) *pduLog {
	if file == nil {
		return nil
	}
	l := &pduLog{now: now, file: file}
	l.timer = time.AfterFunc(time.Hour, l.due)
	l.timer.Stop()
	return l
}

// line adds a PDU of a session. m and id are those of connector.Link.About.
func (l *pduLog) line(now int64, s *connector.Link, received bool, p protocols.PDU, m *sms.Message, id uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.file.Due() == 0
	l.last = max(l.last, now)
	l.file.Line(l.last, s.Instance.Number, received, p, s.Login.Pass(received, p), s.About(received, p, m, id))
	if first {
		l.timer.Reset(time.Duration(l.file.Due() - l.last))
	}
}

// flush passes the waiting lines to the disk. The caller holds the lock.
func (l *pduLog) flush() {
	now := l.now()
	l.file.Flush(now)
	if due := l.file.Due(); due != 0 { // the file could not take them now
		l.timer.Reset(time.Duration(due - now))
	}
}

func (l *pduLog) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed && l.file.Due() != 0 {
		l.flush()
	}
}

// close ends the use of the file. The gateway closes the file itself.
func (l *pduLog) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.timer.Stop()
}

func (l *pduLog) locks() int64 {
	if l == nil {
		return 0
	}
	return l.mu.count()
}
