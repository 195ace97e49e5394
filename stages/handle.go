package stages

import (
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/flow"
	"pmg/internal/sock"
)

// A handle is a session as the pipeline keeps it: the socket of a connected
// instance, and what each stage notes of it. Whatever holds a job that may touch
// the socket holds references; the reader holds one more until the session is over,
// and it alone gives that one up, once. The descriptor is closed exactly when the
// count reaches 0, so a late write cannot reach the next client that is given the
// same number.
//
//	        last PDU on its way,     reader takes it out       count
//	        or hangup                of its poller             reaches 0
//	open ───────────────────► ended ───────────────────► over ──────────► closed
//	  └──────────────────────────────────────────────────▲
//	          the peer closed, or the connection was lost
//
// Open: requests are answered. Ended (Link.Ended): our last PDU is on its way, and
// only answers to our own requests count. Over (Link.Over): everything that was
// read has been worked on, and nothing comes any more. Closed: the descriptor is
// closed, and the instance is free for another session.
type handle struct {
	connector.Link
	fd   int
	refs atomic.Int32 // jobs under way, by their weight, and the reader's own
	gate gate

	// Each of these belongs to the stage that it is named after.
	reader    struct{ watched bool } // in its poller
	parser    parserState
	pduLogger struct{ closing bool } // our logout has passed: no request follows it
	gathering *Job                   // pdu builder: the job that gathers this batch's bytes
	writer    writerState
}

// newHandle begins the session of an instance. The caller gets the reader's reference.
func newHandle(i *connector.Instance, fd int, remote netip.AddrPort, now int64) *handle {
	h := &handle{fd: fd}
	h.refs.Store(1)
	h.Open(i, remote, now, h)
	return h
}

// handleOf returns the pipeline's own view of a session.
func handleOf(l *connector.Link) *handle { return l.Owner.(*handle) }

// retain adds n references. The caller holds one already.
func (h *handle) retain(n int) {
	if h.refs.Add(int32(n)) <= int32(n) {
		panic("stages: handle retained that nobody held")
	}
}

// retainOpen adds a reference for a caller that holds none, unless the last one has
// been given up. It reports whether it has.
func (h *handle) retainOpen() bool {
	for {
		n := h.refs.Load()
		if n == 0 {
			return false
		}
		if h.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives up n references. It returns how many are left, and whether those
// were the last ones, in which case the descriptor has been closed.
func (h *handle) release(n int) (left int, closed bool) {
	left = int(h.refs.Add(int32(-n)))
	if left < 0 {
		panic("stages: handle released more often than held")
	}
	if left > 0 {
		return left, false
	}
	sock.Drain(h.fd)
	_ = unix.Close(h.fd)
	return 0, true
}

// release gives up the references that j holds on its handle.
func release(out *flow.Out[Job], j *Job) {
	h, n := j.Handle, int(j.refs)
	j.Handle, j.refs = nil, 0
	releaseHandle(out, h, n)
}

// releaseHandle gives up references, and tells the stages that must know what came of it.
func releaseHandle(out *flow.Out[Job], h *handle, n int) {
	if n == 0 {
		return
	}
	out.CountRef()
	left, closed := h.release(n)
	if !closed {
		h.reopen(out, left)
		return
	}
	row := toListener
	if !h.Connector.Config().Listens() {
		row = toDispatcher
	}
	notice := out.Get()
	notice.Kind, notice.Handle = Closed, h
	out.To(row, notice)
}

// hangup asks the reader to end a session, unless it was asked before. The caller
// holds a reference.
func hangup(out *flow.Out[Job], h *handle, reason string) {
	if !h.BeginClosing(reason) {
		return
	}
	j := out.Get()
	j.Kind = Hangup
	j.retain(h)
	out.CountRef()
	out.To(toReader, j)
}

// discard gives up a job and the references it holds.
func discard(out *flow.Out[Job], j *Job) {
	if j.Handle != nil {
		release(out, j)
	}
	out.Release(j)
}
