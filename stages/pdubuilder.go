package stages

import (
	"pmg/flow"
)

// pduBuilder makes bytes of PDUs. What a batch has for one session becomes one
// job with one piece of bytes, and so one write.
type pduBuilder struct {
	*Deps
	gathering []*Job
}

func newPDUBuilder(d *Deps) (flow.Stage[Job], error) { return &pduBuilder{Deps: d}, nil }

func (b *pduBuilder) Work(out *flow.Out[Job], j *Job) {
	first, _ := j.Handle.Gather.(*Job)
	if first == nil {
		j.Wire = j.PDU.AppendWire(j.Wire)
		j.Handle.Gather = j
		b.gathering = append(b.gathering, j)
		return
	}
	if !first.Last { // nothing follows the last PDU of a session
		first.Wire = j.PDU.AppendWire(first.Wire)
		first.Last, first.Rare = j.Last, j.Rare
	}
	first.refs += j.refs
	j.Handle, j.refs = nil, 0
	out.Release(j)
}

// Flush hands on what the batch gathered, in the order in which sessions began to.
func (b *pduBuilder) Flush(out *flow.Out[Job]) {
	for i, j := range b.gathering {
		j.Handle.Gather = nil
		out.To(toWriter, j)
		b.gathering[i] = nil
	}
	b.gathering = b.gathering[:0]
}
