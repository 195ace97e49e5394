package connector

import (
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"pmg/internal/sock"
)

// A Handle is the socket of a connected instance. Whoever holds a job that may
// touch the socket holds one reference; the reader holds one more until the
// session is over, and it alone gives that one up, once. The descriptor is closed
// exactly when the count reaches 0, so a late write cannot reach the next client
// that was given the same number.
type Handle struct {
	Link
	FD int

	refs   atomic.Int32
	Paused atomic.Bool // the reader has stopped reading; whoever brings the count down tells it

	// Each of these belongs to the stage named; the builder runs the session, the
	// dispatcher owns the slots.
	Rest       []byte // parser: the beginning of a PDU
	Lost       bool   // parser: framing is lost, nothing more is parsed
	Over       bool   // builder: the session is over
	Ended      bool   // builder: our last PDU is on its way; requests are not answered any more
	Waiting    bool   // builder: the outcome of a login is not known yet
	Gather     any    // pdu builder: the job that gathers this batch's bytes
	Unsent     []byte // writer: what the socket did not take yet
	Blocked    int64  // writer: since when; 0: not
	CutOff     bool   // writer: nothing more is written
	Last       bool   // writer: end the session when everything is written
	LastReason string // writer: why
	Watched    bool   // reader: in its poller
}

// NewHandle begins the session of an instance. The caller gets the reader's reference.
func NewHandle(i *Instance, fd int, remote netip.AddrPort, now int64) *Handle {
	h := &Handle{FD: fd}
	h.refs.Store(1)
	h.Open(i, remote, now, h)
	return h
}

// Refs is how many references there are: the jobs under way, and the reader's.
func (h *Handle) Refs() int { return int(h.refs.Load()) }

// Retain adds n references. The caller holds one already.
func (h *Handle) Retain(n int) {
	if h.refs.Add(int32(n)) <= int32(n) {
		panic("connector: handle retained that nobody held")
	}
}

// RetainOpen adds a reference for a caller that holds none, unless the last one has
// been given up.
func (h *Handle) RetainOpen() bool {
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

// Release gives n references up and tells whether those were the last, in which
// case the descriptor has been closed.
func (h *Handle) Release(n int) (left int, closed bool) {
	left = int(h.refs.Add(int32(-n)))
	if left < 0 {
		panic("connector: handle released more often than held")
	}
	if left > 0 {
		return left, false
	}
	sock.Drain(h.FD)
	_ = unix.Close(h.FD)
	return 0, true
}
