package stages

import (
	"math"

	"pmg/connector"
	"pmg/sms"
	"pmg/stages/flow"
)

// pduBuilder encodes PDUs. All PDUs of a batch for one session become one job with one buffer, and
// therefore one write. pduBuilder also puts requests in flight: from then on an answer, genuine or
// forged, may release the message. The pduBuilder owns the octets of a batch. It adds requests to a
// session's in-flight table, and the builder removes them, without a lock.
type pduBuilder struct {
	*Deps
	gathering []*Job
}

func newPDUBuilder(d *Deps) (flow.Stage[Job], error) { return &pduBuilder{Deps: d}, nil }

func (b *pduBuilder) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Drained {
		b.over(out, j)
		return
	}
	first := j.Handle.gathering
	if first == nil {
		j.Octets = b.buffers.get()
		j.Octets.b = j.PDU.AppendWire(j.Octets.b)
		putInFlight(j)
		j.Handle.gathering = j
		b.gathering = append(b.gathering, j)
		return
	}
	if !first.Last { // no PDU may follow the last PDU of a session
		first.Octets.b = j.PDU.AppendWire(first.Octets.b)
		first.Last, first.extras = j.Last, j.extras
	}
	putInFlight(j)
	first.refs += j.refs
	j.Handle, j.refs = nil, 0
	out.Release(j)
}

// Flush passes on the buffers of the batch, in the order of their first PDUs.
func (b *pduBuilder) Flush(out *flow.Out[Job]) {
	for i, j := range b.gathering {
		j.Handle.gathering = nil
		out.To(j.Handle.below(toWriter), j)
		b.gathering[i] = nil
	}
	b.gathering = b.gathering[:0]
}

// putInFlight puts a request in flight, so that its answer finds the slot.
func putInFlight(j *Job) {
	if j.Slot != nil {
		j.Handle.Inflight.Put(j.Slot)
		j.Slot = nil
	}
}

// over returns the slots of an ended session to the lane. The requests that are still under way
// will never be answered.
func (b *pduBuilder) over(out *flow.Out[Job], j *Job) {
	j.Handle.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) {
		back := out.Get()
		back.Kind, back.Slot, back.Code = Answered, slot, sms.Lost
		out.To(toDispatcher, back)
	})
	discard(out, j)
}
