package stages

import (
	"pmg/flow"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// persister stores accepted messages. Those that come while a commit is under way
// are committed together afterwards, and answered then. It owns the submits that wait for their commit.
type persister struct {
	*Deps
	waiting []storing // in the order of their positions
}

// A storing is a message that waits for its commit.
type storing struct {
	job *Job
	at  store.Position
}

func newPersister(d *Deps) (flow.Stage[Job], error) { return &persister{Deps: d}, nil }

func (p *persister) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Store:
		at := p.Gateway.Keeper.Put(keep.Accepted{Message: j.Message, Share: j.Share}, j.more())
		p.waiting = append(p.waiting, storing{j, at})
	case Committed:
		p.committed(out, store.PositionOf(j.ID), j.Code)
		out.To(toDispatcher, j)
	default:
		discard(out, j)
	}
}

// Flush asks for a commit of what the batch has brought.
func (p *persister) Flush(*flow.Out[Job]) { p.Gateway.Keeper.Commit() }

// committed hands back the messages whose commits have ended. With a code other than OK
// those of the last one were not stored.
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
	p.waiting = p.waiting[:left]
}
