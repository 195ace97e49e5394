package stages

import (
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/stages/flow"
	"pmg/store"
)

// persister stores accepted messages. Messages that arrive during a commit are committed together
// in the next commit, and answered after it. The persister owns the submits that wait for their
// commit.
type persister struct {
	*Deps
	batch   store.Batch // messages that arrived since the last Flush
	waiting []storing   // in the order of their positions; the messages of batch are at the end
	placed  int         // how many of waiting have a position
}

// mostCollected is the size at which a batch is appended to the journal. The journal does not
// divide a batch.
const mostCollected = 32 << 10

// A storing is a message that waits for its commit.
type storing struct {
	job *Job
	at  store.Position
}

func newPersister(d *Deps) (flow.Stage[Job], error) { return &persister{Deps: d}, nil }

func (p *persister) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Store:
		p.Gateway.Keeper.Collect(&p.batch, keep.Accepted{Message: j.Message, Share: j.Share}, j.more())
		p.waiting = append(p.waiting, storing{job: j})
		if p.batch.Size() >= mostCollected {
			p.append()
		}
	case Committed:
		p.append()
		p.committed(out, store.PositionOf(j.ID), j.Code)
		if j.isLast() {
			out.To(toDispatcher, j)
		} else {
			out.Release(j)
		}
	default:
		discard(out, j)
	}
}

// Flush requests a commit of the messages of the batch.
func (p *persister) Flush(*flow.Out[Job]) {
	p.append()
	p.Gateway.Keeper.Commit()
}

// append appends the batch to the journal, and assigns the batch's position to its messages.
func (p *persister) append() {
	if p.placed == len(p.waiting) {
		return
	}
	at := p.Gateway.Keeper.Append(&p.batch)
	for ; p.placed < len(p.waiting); p.placed++ {
		p.waiting[p.placed].at = at
	}
}

// committed passes the messages whose commits have ended back to the builder. If code is not
// sms.OK, the messages of the last commit were not stored.
func (p *persister) committed(out *flow.Out[Job], upTo store.Position, code sms.Code) {
	done := 0
	for _, s := range p.waiting {
		if s.at.After(upTo) {
			break
		}
		s.job.Kind, s.job.Code = Stored, code
		out.To(toBuilder, s.job)
		done++
	}
	left := copy(p.waiting, p.waiting[done:])
	clear(p.waiting[left:])
	p.waiting, p.placed = p.waiting[:left], left
}
