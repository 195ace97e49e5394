package stages

import (
	"sync/atomic"

	"pmg/stages/flow"
)

// A gate is shut while a session must not be read, because too many of its octets are under way, or
// too many octets wait to be written to it. The reader shuts the gate. The stage that makes room
// opens the gate again and wakes the reader.
type gate struct {
	paused atomic.Bool // the reader does not read the session
	full   atomic.Bool // too many octets wait for the socket to take them
	left   atomic.Bool // what follows is for the session's Host; never false again
}

// weightOf returns how many references a job with n octets holds. Jobs with long PDUs hold more
// references, so that the count of a handle limits octets as well as jobs.
func weightOf(n int) int { return 1 + n/4096 }

// tooMuch reports whether reading the session must stop.
func (h *handle) tooMuch() bool {
	return int(h.refs.Load()) > h.Connector.ReadLimit() || h.gate.full.Load() || h.gate.left.Load()
}

// enough reports whether a paused session may be read again. left is the number of its references.
func (h *handle) enough(left int) bool {
	return left <= h.Connector.ReadLimit()/2 && !h.gate.full.Load() && !h.gate.left.Load()
}

// shut stops reading of the session, and reports whether it did. Only the reader calls it.
func (h *handle) shut() bool {
	if !h.tooMuch() {
		return false
	}
	h.gate.paused.Store(true)
	// The count may have fallen before paused was set. Then no other stage reopens the gate, so it is
	// reopened here.
	return !h.enough(int(h.refs.Load())) || !h.gate.paused.CompareAndSwap(true, false)
}

// reopen makes the reader continue if the session is paused and enough references were released.
// left is the number of remaining references.
func (h *handle) reopen(out *flow.Out[Job], left int) {
	if !h.gate.paused.Load() || !h.enough(left) || !h.gate.paused.CompareAndSwap(true, false) {
		return
	}
	if !h.retainOpen() {
		return // the last reference was released meanwhile
	}
	notice := out.Get()
	notice.Kind, notice.Handle, notice.refs = Resume, h, 1
	out.CountRef()
	out.ToGroup(h.group, toReader, notice)
}

// leave leaves what follows on a connection to the session's Host: it is not read any more, and the builder, which learns
// that by a job to row, ends the session when the requests before it are answered.
func (h *handle) leave(out *flow.Out[Job], row int) {
	h.gate.left.Store(true)
	j := out.Get()
	j.Kind = Foreign
	j.retain(h)
	out.CountRef()
	out.To(row, j)
}
