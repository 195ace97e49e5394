package stages

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"pmg/gateway/session"
	"pmg/internal/sock"
	"pmg/stages/flow"
)

// writer writes to the sockets. Octets that a socket does not take are kept until the socket takes
// more, and do not delay other sockets. A session with too many unsent octets is not read until the
// peer has taken some, so that no further answers are added. A peer that takes no octets is cut
// off. The writer owns the unsent octets.
type writer struct {
	*Deps
	limit   int
	blocked map[*handle]bool // for each session in the map the writer holds one reference
}

// writerState is the writer's state of a session.
type writerState struct {
	unsent  []byte // octets that the socket has not taken yet
	since   int64  // when the socket last took octets, or when the first unsent octet began to wait
	cutOff  bool   // the session was cut off, so nothing more is written to it
	last    bool   // the session ends when all octets are written
	reason  string // the reason for that end
	charged int64  // octets of unsent that the gateway's memory counts
}

func newWriter(d *Deps) (flow.Stage[Job], error) {
	return &writer{Deps: d, limit: int(d.Gateway.Node.Config().Limits.Unsent), blocked: map[*handle]bool{}}, nil
}

func (w *writer) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	if j.Kind == Writable {
		if w.blocked[h] {
			w.resume(out, h)
		}
		discard(out, j)
		return
	}
	if s := &h.writer; !s.cutOff && !s.last {
		s.last = j.Last
		if s.last {
			s.reason = j.Reason
		}
		w.write(out, h, j.Octets.b)
	}
	w.buffers.giveBack(j)
	discard(out, j)
}

// write writes b to the session, after the octets that are still unsent.
func (w *writer) write(out *flow.Out[Job], h *handle, b []byte) {
	s := &h.writer
	if len(s.unsent) == 0 {
		n, err := w.send(h.fd, b)
		if err != nil {
			w.cutOff(out, h, "cannot write: "+err.Error())
			return
		}
		b = b[n:]
	}
	if len(b) == 0 {
		w.written(out, h)
		return
	}
	s.unsent = append(s.unsent, b...)
	w.account(h)
	if len(s.unsent) > w.limit {
		h.gate.full.Store(true)
	}
	if !w.blocked[h] {
		w.blocked[h] = true
		s.since = out.Now()
		h.retain(1)
		out.CountRef()
		out.TickIn(time.Second)
		w.askWritable(out, h)
	}
}

// account updates the gateway's memory counter with the session's unsent octets.
func (w *writer) account(h *handle) {
	s := &h.writer
	if n := int64(len(s.unsent)); n != s.charged {
		w.Gateway.Node.Memory.Add(n - s.charged)
		s.charged = n
	}
}

func (w *writer) askWritable(out *flow.Out[Job], h *handle) {
	j := out.Get()
	j.Kind = Blocked
	j.retain(h)
	out.CountRef()
	out.To(toReader, j)
}

// written ends the session if its last PDU was written.
func (w *writer) written(out *flow.Out[Job], h *handle) {
	if h.writer.last {
		h.writer.cutOff = true
		hangup(out, h, h.writer.reason)
	}
}

func (w *writer) resume(out *flow.Out[Job], h *handle) {
	s := &h.writer
	if s.cutOff {
		return
	}
	n, err := w.send(h.fd, s.unsent)
	if err != nil {
		w.cutOff(out, h, "cannot write: "+err.Error())
		return
	}
	if n > 0 {
		s.since = out.Now()
	}
	s.unsent = append(s.unsent[:0], s.unsent[n:]...)
	w.account(h)
	if len(s.unsent) <= w.limit/2 {
		w.open(out, h)
	}
	if len(s.unsent) > 0 {
		w.askWritable(out, h)
		return
	}
	s.unsent = nil
	w.written(out, h)
	w.unblock(out, h)
}

// open allows the session to be read again.
func (w *writer) open(out *flow.Out[Job], h *handle) {
	if h.gate.full.Load() {
		h.gate.full.Store(false)
		h.reopen(out, int(h.refs.Load()))
	}
}

func (w *writer) unblock(out *flow.Out[Job], h *handle) {
	delete(w.blocked, h)
	releaseHandle(out, h, 1)
}

func (w *writer) cutOff(out *flow.Out[Job], h *handle, reason string) {
	s := &h.writer
	s.cutOff, s.unsent = true, nil
	w.account(h)
	hangup(out, h, reason)
	w.open(out, h)
	if w.blocked[h] {
		w.unblock(out, h)
	}
}

// Tick cuts off peers that have taken nothing for too long.
func (w *writer) Tick(out *flow.Out[Job]) time.Duration {
	for h := range w.blocked {
		s := &h.writer
		patience := session.Stuck
		if len(s.unsent) > w.limit {
			patience = session.StuckFull
		}
		switch {
		case h.Closing():
			w.cutOff(out, h, "") // the session has already ended; the reader does not watch its socket any more
		case out.Now()-s.since > int64(patience):
			w.cutOff(out, h, fmt.Sprintf("the peer does not read: it took nothing of %d bytes for %s", len(s.unsent), patience))
		}
	}
	if len(w.blocked) > 0 {
		return time.Second
	}
	return 0
}

var errDeposed = errors.New("this node does not own the work of the cluster any more")

// send writes octets to a socket, unless this process may not send any more.
func (w *writer) send(fd int, b []byte) (int, error) {
	if w.Holds != nil && !w.Holds() {
		return 0, errDeposed
	}
	return write(fd, b)
}

// write writes as many octets as the socket takes, and returns their number, which may be 0.
func write(fd int, b []byte) (int, error) {
	n, err := sock.Write(fd, b)
	if err == unix.EAGAIN {
		return 0, nil
	}
	return n, err
}
