package stages

import (
	"math"

	"pmg/connector"
	"pmg/flow"
	"pmg/sms"
)

// encoder makes a PDU of a message for the session whose slot it leaves by. It
// also gives the sequence number, so that it stands in the pdu log.
type encoder struct {
	*Deps
	copy sms.Message

	of   *connector.Handle // whose references are not counted yet
	refs int
}

func newEncoder(d *Deps) (flow.Stage[Job], error) { return &encoder{Deps: d}, nil }

func (e *encoder) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Over {
		e.over(out, j)
		return
	}
	slot := j.Slot
	h := handle(slot.Link)
	slot.Sequence = h.FreeSequence()
	// The PDU gets its own copy of the bytes: once the slot is in flight an answer,
	// right or forged, may give the message to somebody else.
	j.Bytes = slot.Message.CopyTo(&e.copy, j.Bytes)
	h.Session.Encode(j.pdu(h.Connector), &e.copy, slot.Sequence)
	j.Kind = Send // with its slot, by which a fault on the way finds the message
	if e.of != h {
		e.Flush(out)
		e.of = h
	}
	e.refs++ // the dispatcher gave us a slot, so Over is still to come with the reader's reference
	j.Handle, j.refs = h, 1
	slot.Sent = out.Now()
	h.Inflight.Put(slot)
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

// over is the last that a session sees. The dispatcher has taken its free slots
// away, so what is under way now is all there is: it has no answer and never will.
func (e *encoder) over(out *flow.Out[Job], j *Job) {
	h := j.Handle
	e.Flush(out)
	h.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) {
		back := out.Get()
		back.Kind, back.Slot, back.Code = Answered, slot, sms.Timeout
		out.To(toDispatcher, back)
	})
	discard(out, j)
}
