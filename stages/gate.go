package stages

import (
	"sync/atomic"

	"pmg/flow"
)

// A gate is shut while a session is not to be read, because too many of its octets
// are under way, or too many of our own wait to be written to it. The reader shuts
// it; whatever makes room opens it again and tells the reader.
type gate struct {
	paused atomic.Bool // the reader does not read
	full   atomic.Bool // the writer has too much that the socket does not take
}

// weightOf is how many references a job with n octets holds, so that the count of
// a handle bounds octets as well as jobs.
func weightOf(n int) int { return 1 + n/4096 }

// tooMuch reports whether the session is to be read no more.
func (h *handle) tooMuch() bool {
	return int(h.refs.Load()) > h.Connector.ReadLimit() || h.gate.full.Load()
}

// enough reports whether a session that is not read may be read again, with left
// references on it.
func (h *handle) enough(left int) bool {
	return left <= h.Connector.ReadLimit()/2 && !h.gate.full.Load()
}

// shut stops reading for now, and reports whether it has. Only the reader calls it.
func (h *handle) shut() bool {
	if !h.tooMuch() {
		return false
	}
	h.gate.paused.Store(true)
	// The count may have come down between the look and the note, unseen.
	return !h.enough(int(h.refs.Load())) || !h.gate.paused.CompareAndSwap(true, false)
}

// reopen tells the reader to go on if the session is paused and there is room again.
func (h *handle) reopen(out *flow.Out[Job], left int) {
	if !h.gate.paused.Load() || !h.enough(left) || !h.gate.paused.CompareAndSwap(true, false) {
		return
	}
	if !h.retainOpen() {
		return // the others have let go of it meanwhile
	}
	notice := out.Get()
	notice.Kind, notice.Handle, notice.refs = Resume, h, 1
	out.CountRef()
	out.To(toReader, notice)
}
