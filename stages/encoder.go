package stages

import (
	"pmg/sms"
	"pmg/stages/flow"
)

// encoder converts a message to a PDU for the session of the message's slot. It also chooses the
// sequence number, so that the pdu log shows the number. The PDU's fields point into the message,
// which is not released before the request is in flight. The encoder owns the sequence numbers.
type encoder struct {
	*Deps

	of   *handle // the handle to which refs must still be added
	refs int
}

func newEncoder(d *Deps) (flow.Stage[Job], error) { return &encoder{Deps: d}, nil }

func (e *encoder) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Over { // the dispatcher has removed the free slots, so no request follows
		e.Flush(out)
		j.Kind = Drained
		out.To(toPDULogger, j)
		return
	}
	slot := j.Slot
	h := handleOf(slot.Link)
	if !h.Session.Accepting() { // a logout has begun since the slot was taken
		j.Kind = Unsent
		out.To(toDispatcher, j)
		return
	}
	if code := e.Gateway.Convert.Refuses(slot); code != sms.OK {
		j.Kind, j.Code = Answered, code
		out.To(toDispatcher, j)
		return
	}
	slot.Sequence = h.Session.NextSequence()
	j.copied = e.Gateway.Convert.EncodeSlot(out.Now(), slot, j.pdu(h.Connector))
	j.Kind = Send // the job keeps its slot, so that the message is found if a stage fails
	if e.of != h {
		e.Flush(out)
		e.of = h
	}
	e.refs++ // the slot came before Over, so the reader still holds its reference
	j.Handle, j.refs = h, 1
	slot.Sent = out.Now()
	out.To(toPDULogger, j)
}

// Flush adds the references of consecutive jobs of one session to its handle, before another stage
// gets the jobs.
func (e *encoder) Flush(out *flow.Out[Job]) {
	if e.refs > 0 {
		e.of.retain(e.refs)
		out.CountRef()
	}
	e.of, e.refs = nil, 0
}
