package stages

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/stages/flow"
)

// A handle is a session in the pipeline: the socket of a connected instance, and each
// stage's state for it. Every job that may use the socket holds references. The reader
// holds one more until the session is over, and only the reader releases it, once. The
// descriptor is closed exactly when the count reaches 0. Otherwise a late write could
// reach a new client whose socket has the same descriptor.
//
//	        last PDU on its way,     reader takes it out       count
//	        or hangup                of its poller             reaches 0
//	open ───────────────────► ended ───────────────────► over ──────────► closed
//	  └──────────────────────────────────────────────────▲
//	          the peer closed, or the connection was lost
//
// Open: requests are answered. Ended (connector.Ended): our last PDU is on its way, and only
// answers to our own requests are handled. Over (connector.Over): all octets that were read
// have been handled, and no more follow. Closed: the descriptor is closed, and the
// instance is free for another session.
type handle struct {
	connector.Link
	deps  *Deps
	group int // the group of stages that the session belongs to
	fd    int
	refs  atomic.Int32 // references of jobs under way, by their weight, and the reader's own reference
	gate  gate

	// Each field below belongs to the stage after which it is named.
	reader    struct{ watched bool } // the socket is in the reader's poller
	cipher    *cipherState           // nil: the session is not encrypted
	parser    parserState
	builder   struct{ unused []byte } // octets of requests for the session's Host, before those that the parser has
	pduLogger struct{ closing bool }  // our logout was logged, so no request may follow
	gathering *Job                    // of the pdu builder: the job that collects this batch's octets
	writer    writerState
}

// newHandle begins the session of an instance. The caller gets the reader's reference to the handle.
func newHandle(d *Deps, i *connector.Instance, a admitted, now int64) *handle {
	h := &handle{fd: a.fd, deps: d}
	h.Hosted.By = a.host
	if i.Connector.Config().Listens() {
		h.group = d.groups.joinClient(now)
	} else {
		h.group = d.groups.joinSMSC()
	}
	h.refs.Store(1)
	h.Open(i, a.remote, now, h)
	if config := i.TLS(); config != nil && a.host == nil {
		h.cipher = &cipherState{config: config}
	}
	return h
}

// displace ends a session that has not logged in, because another session needs its place. The
// reader notices the end on the socket. The socket is still open, because it is only closed after
// the builder has given the place back.
func (h *handle) displace() {
	if h.BeginClosing("not logged in, while as many connections are open as limits.prebind allows") {
		_ = unix.Shutdown(h.fd, unix.SHUT_RDWR)
	}
}

// handleOf returns the handle of a session. In the pipeline the courier of every session is a
// handle.
func handleOf(l *connector.Link) *handle { return l.Courier.(*handle) }

// Give implements connector.Courier: it sends the slot to the encoder. The dispatcher calls it.
func (h *handle) Give(_ int64, slot *connector.Slot) {
	out := h.deps.dispatcher.out
	j := out.Get()
	j.Kind, j.Slot = Forward, slot
	out.ToGroup(h.group, toEncoder, j)
}

// Quiet implements connector.Courier: it informs the builder that no request of ours is under way
// on the session. The dispatcher calls it.
func (h *handle) Quiet(int64) {
	if !h.retainOpen() {
		return
	}
	out := h.deps.dispatcher.out
	j := out.Get()
	j.Kind, j.Handle, j.refs = Quiet, h, 1
	out.CountRef()
	out.ToGroup(h.group, toBuilder, j)
}

// below returns the row that gets the session's octets next: the cipher if the session is
// encrypted, otherwise plain.
func (h *handle) below(plain int) int {
	if h.cipher != nil {
		return toCipher
	}
	return plain
}

// retain adds n references. The caller must already hold a reference.
func (h *handle) retain(n int) {
	if h.refs.Add(int32(n)) <= int32(n) {
		panic("stages: handle retained that nobody held")
	}
}

// retainOpen adds a reference for a caller that holds none, and returns true. If the last reference
// was already released, it returns false.
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

// release releases n references. left is the number of remaining references. closed is true if none
// is left; then release has closed the descriptor.
func (h *handle) release(n int) (left int, closed bool) {
	left = int(h.refs.Add(int32(-n)))
	if left < 0 {
		panic("stages: handle released more often than held")
	}
	if left > 0 {
		return left, false
	}
	h.close()
	return 0, true
}

// close closes the descriptor, or gives it to the session's Host.
func (h *handle) close() {
	if h.Hosted.HandsOver && !h.writer.cutOff {
		rest := h.parser.rest
		if s, ok := h.Session.(protocols.Requests); ok && len(h.builder.unused) == 0 {
			rest = s.Unread(rest)
		}
		h.Hosted.By.TakeBack(h.fd, append(h.builder.unused, rest...))
		return
	}
	sock.Drain(h.fd)
	h.cutOff()
}

// cutOff closes the descriptor.
func (h *handle) cutOff() {
	if h.Hosted.By != nil {
		h.Hosted.By.Closing()
	}
	_ = unix.Close(h.fd)
}

// release releases the references that j holds on a handle.
func release(out *flow.Out[Job], j *Job) {
	h, n := j.Handle, int(j.refs)
	j.Handle, j.refs = nil, 0
	releaseHandle(out, h, n)
}

// releaseHandle releases n references. It informs the reader if a shut gate opens, and the listener
// or the dispatcher if the session is closed.
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
	row, listens := toListener, h.Connector.Config().Listens()
	if !listens {
		row = toDispatcher
	}
	h.deps.groups.leave(h.group, listens)
	notice := out.Get()
	notice.Kind, notice.Handle = Closed, h
	out.To(row, notice)
}

// hangup requests the reader to end a session, unless this was already requested. The caller must
// hold a reference.
func hangup(out *flow.Out[Job], h *handle, reason string) {
	if !h.BeginClosing(reason) {
		return
	}
	j := out.Get()
	j.Kind = Hangup
	j.retain(h)
	out.CountRef()
	out.ToGroup(h.group, toReader, j)
}

// discard releases the references that a job holds, and then the job.
func discard(out *flow.Out[Job], j *Job) {
	if j.Handle != nil {
		release(out, j)
	}
	out.Release(j)
}
