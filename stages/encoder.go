package stages

import (
	"pmg/sms"
	"pmg/stages/flow"
)

// encoder makes a PDU of a message for the session whose slot the message has. It also
// chooses the sequence number, so that the pdu log shows it. The PDU's fields point into
// the message, which is not released before the request is in flight. It owns the sequence numbers.
type encoder struct {
	*Deps

	of   *handle // whose references are not counted yet
	refs int
}

func newEncoder(d *Deps) (flow.Stage[Job], error) { return &encoder{Deps: d}, nil }

func (e *encoder) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Over { // the dispatcher has taken the free slots away, so no request follows
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
	j.Kind = Send // keeps its slot, so that the message is found if a stage fails
	if e.of != h {
		e.Flush(out)
		e.of = h
	}
	e.refs++ // the slot came before Over, so the reader's reference is still held
	j.Handle, j.refs = h, 1
	slot.Sent = out.Now()
	out.To(toPDULogger, j)
}

// Flush adds the references of consecutive jobs of one session, before another stage
// gets the jobs.
func (e *encoder) Flush(out *flow.Out[Job]) {
	if e.refs > 0 {
		e.of.retain(e.refs)
		out.CountRef()
	}
	e.of, e.refs = nil, 0
}
