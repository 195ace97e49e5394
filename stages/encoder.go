package stages

import (
	"pmg/connector"
	"pmg/flow"
)

// encoder makes a PDU of a message for the session whose slot it leaves by. It
// also gives the sequence number, so that it stands in the pdu log. The PDU's fields
// lie in the message, which nobody can take away before it is in flight.
type encoder struct {
	*Deps

	of   *connector.Handle // whose references are not counted yet
	refs int
}

func newEncoder(d *Deps) (flow.Stage[Job], error) { return &encoder{Deps: d}, nil }

func (e *encoder) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Over { // the dispatcher has taken the free slots away, so these were the last requests
		e.Flush(out)
		j.Kind = Spent
		out.To(toPDULogger, j)
		return
	}
	slot := j.Slot
	h := handle(slot.Link)
	slot.Sequence = h.FreeSequence()
	h.Session.Encode(j.pdu(h.Connector), slot.Message, slot.Sequence)
	j.Kind = Send // with its slot, by which a fault on the way finds the message
	if e.of != h {
		e.Flush(out)
		e.of = h
	}
	e.refs++ // the dispatcher gave us a slot, so Over is still to come with the reader's reference
	j.Handle, j.refs = h, 1
	slot.Sent = out.Now()
	out.To(toPDULogger, j)
}

// Flush counts the references of jobs in a row of one session, before anybody else
// has them.
func (e *encoder) Flush(out *flow.Out[Job]) {
	if e.refs > 0 {
		e.of.Retain(e.refs)
		out.CountRef()
	}
	e.of, e.refs = nil, 0
}
