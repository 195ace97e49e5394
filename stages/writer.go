package stages

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/flow"
	"pmg/gateway"
	"pmg/internal/sock"
)

// writer writes to the sockets. What a socket does not take waits for it alone;
// a peer that lets too much wait, or for too long, is cut off.
type writer struct {
	*Deps
	unsent  int
	blocked map[*connector.Handle]bool // each holds one reference
}

func newWriter(d *Deps) (flow.Stage[Job], error) {
	return &writer{
		Deps: d, unsent: int(d.Gateway.Config().Limits.Unsent), blocked: map[*connector.Handle]bool{},
	}, nil
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
	if !h.CutOff && !h.Last {
		h.Last = j.Last
		if h.Last {
			h.LastReason = j.Reason
		}
		w.write(out, h, j.Wire)
	}
	discard(out, j)
}

// write writes b, behind what is unsent already.
func (w *writer) write(out *flow.Out[Job], h *connector.Handle, b []byte) {
	if len(h.Unsent) == 0 {
		n, err := write(h.FD, b)
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
	if len(h.Unsent)+len(b) > w.unsent {
		w.cutOff(out, h, fmt.Sprintf("the peer does not read: over %d bytes unsent", w.unsent))
		return
	}
	h.Unsent = append(h.Unsent, b...)
	if !w.blocked[h] {
		w.blocked[h] = true
		h.Blocked = out.Now()
		h.Retain(1)
		out.CountRef()
		out.TickIn(time.Second)
		w.askWritable(out, h)
	}
}

func (w *writer) askWritable(out *flow.Out[Job], h *connector.Handle) {
	j := out.Get()
	j.Kind = Blocked
	j.retain(h)
	out.CountRef()
	out.To(toReader, j)
}

// written ends the session if that was its last PDU.
func (w *writer) written(out *flow.Out[Job], h *connector.Handle) {
	if h.Last {
		h.CutOff = true
		hangup(out, h, h.LastReason)
	}
}

func (w *writer) resume(out *flow.Out[Job], h *connector.Handle) {
	if h.CutOff {
		return
	}
	n, err := write(h.FD, h.Unsent)
	if err != nil {
		w.cutOff(out, h, "cannot write: "+err.Error())
		return
	}
	if n > 0 {
		h.Blocked = out.Now()
	}
	h.Unsent = append(h.Unsent[:0], h.Unsent[n:]...)
	if len(h.Unsent) > 0 {
		w.askWritable(out, h)
		return
	}
	h.Unsent = nil
	w.written(out, h)
	w.unblock(out, h)
}

func (w *writer) unblock(out *flow.Out[Job], h *connector.Handle) {
	delete(w.blocked, h)
	releaseHandle(out, h, 1)
}

func (w *writer) cutOff(out *flow.Out[Job], h *connector.Handle, reason string) {
	h.CutOff, h.Unsent = true, nil
	hangup(out, h, reason)
	if w.blocked[h] {
		w.unblock(out, h)
	}
}

// Tick cuts off peers that have taken nothing for too long.
func (w *writer) Tick(out *flow.Out[Job]) time.Duration {
	for h := range w.blocked {
		switch {
		case h.Closing() && !h.Last:
			w.cutOff(out, h, "") // somebody else ended the session
		case out.Now()-h.Blocked > int64(gateway.Stuck):
			w.cutOff(out, h, fmt.Sprintf("the peer does not read: nothing taken for %s", gateway.Stuck))
		}
	}
	if len(w.blocked) > 0 {
		return time.Second
	}
	return 0
}

// write writes what the socket takes, which may be nothing.
func write(fd int, b []byte) (int, error) {
	n, err := sock.Write(fd, b)
	if err == unix.EAGAIN {
		return 0, nil
	}
	return n, err
}
