package stages

import (
	"slices"
	"time"

	"pmg/connector"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
	"pmg/stages/flow"
)

// pduLogger writes every PDU, both ways, to its connector's file, and counts it. It is placed where
// received PDUs are decoded and our PDUs are not yet encoded, so that no PDU is parsed for the log
// alone. The pduLogger owns the pdu logs (connector.Log is the state of a session), the counts of
// PDUs, and the flag that a session's logout has passed.
type pduLogger struct {
	*Deps
	files   *pdulog.Files
	waiting []*pdulog.File // files with lines that are not written to disk yet
	run     run
}

// A run is a sequence of consecutive PDUs that are counted together.
type run struct {
	of       *connector.Stats
	command  int
	received bool
	n        int64
}

func (l *pduLogger) count(s *connector.Stats, command int, received bool) {
	if r := &l.run; r.n == 0 || r.of != s || r.command != command || r.received != received {
		l.counted()
		*r = run{of: s, command: command, received: received}
	}
	l.run.n++
}

// counted adds the current run to the counters, and ends the run.
func (l *pduLogger) counted() {
	if r := &l.run; r.n > 0 {
		r.of.Count(r.command, r.received, r.n)
		r.n = 0
	}
}

func newPDULogger(d *Deps) (flow.Stage[Job], error) { return &pduLogger{Deps: d}, nil }

func (l *pduLogger) Work(out *flow.Out[Job], j *Job) {
	next := toBuilder
	switch j.Kind {
	case Received:
		l.received(out, j)
	case Send:
		if j.Slot != nil && j.Handle.pduLogger.closing {
			l.unsent(out, j)
			return
		}
		j.Handle.pduLogger.closing = j.Handle.pduLogger.closing || j.Closing
		l.log(out, j, false)
		next = toPDUBuilder
	case Drained:
		next = toPDUBuilder
	}
	out.To(next, j)
}

// unsent returns a request that comes after our logout to the request's lane, because the peer
// takes no more requests.
func (l *pduLogger) unsent(out *flow.Out[Job], j *Job) {
	release(out, j)
	j.Kind = Unsent
	out.To(toDispatcher, j)
}

// received logs a PDU of the peer. A request with a login of its own is logged when the login was accepted or refused: until
// then it may be anybody's.
func (l *pduLogger) received(out *flow.Out[Job], j *Job) {
	if h := j.Handle; h.Hosted.By != nil && h.Session.Bound() == 0 {
		j.unlogged = true
		l.count(h.Connector.Stats, j.PDU.Command(), true)
		return
	}
	l.log(out, j, true)
}

func (l *pduLogger) log(out *flow.Out[Job], j *Job, received bool) {
	c, command := j.Handle.Connector, j.PDU.Command()
	l.count(c.Stats, command, received)
	c.Stats.CountStatus(command, received, j.PDU.Status())
	if c.PDULog == nil {
		return
	}
	if j.unlogged {
		j.unlogged = false
		if p, ok := j.PDU.(protocols.Pair); ok {
			l.line(out, j, p.Request(), true)
		}
	}
	l.line(out, j, j.PDU, received)
}

func (l *pduLogger) line(out *flow.Out[Job], j *Job, p protocols.PDU, received bool) {
	c := j.Handle.Connector
	if l.files == nil {
		l.files = pdulog.NewFiles(out.Group() == 0)
	}
	f := l.files.Of(c.PDULog)
	if f.Due() == 0 && !slices.Contains(l.waiting, f) { // the file may already be in the list
		l.waiting = append(l.waiting, f)
	}
	var m *sms.Message
	if !received && j.Slot != nil { // the request is not in flight yet, so no answer can release its message
		m = j.Slot.Message
	}
	now := l.Gateway.Node.Clock.Wall(out.Now()) // an administrator may set this clock
	var id uint64
	if !received { // j.ID is about our PDU, also while its request is logged
		id = j.ID
	}
	about := j.Handle.About(received, p, m, id)
	if !received {
		about.Refusal = j.Refusal
	}
	f.Line(now, j.Handle.Instance.Number, received, p, j.Handle.standing(received, p), about)
}

// standing returns the standing of a session's login when a PDU is logged.
func (h *handle) standing(received bool, p protocols.PDU) pdulog.Standing {
	switch {
	case h.Hosted.By == nil:
		return h.Login.Pass(received, p)
	case h.Session.Bound() != 0:
		return pdulog.LoggedIn
	}
	return pdulog.Stranger
}

// Flush writes the lines that are due to disk, and sets the time of the next Tick.
func (l *pduLogger) Flush(out *flow.Out[Job]) {
	l.counted()
	l.flush(out)
}

// Tick writes the lines that have waited long enough to disk.
func (l *pduLogger) Tick(out *flow.Out[Job]) time.Duration { l.flush(out); return 0 }

func (l *pduLogger) flush(out *flow.Out[Job]) {
	now, next := l.Gateway.Node.Clock.Wall(out.Now()), int64(0)
	kept := l.waiting[:0]
	for _, f := range l.waiting {
		due := f.Due()
		if due <= now {
			f.Flush(now)
			due = f.Due()
		}
		if due == 0 {
			continue
		}
		kept = append(kept, f)
		if next == 0 || due < next {
			next = due
		}
	}
	l.waiting = kept
	if next != 0 {
		out.TickIn(time.Duration(max(next-now, int64(time.Millisecond))))
	}
}

func (l *pduLogger) Close() error {
	for _, f := range l.waiting {
		f.Flush(time.Now().UnixNano())
	}
	return nil
}
