package stages

import (
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/stages/flow"
	"pmg/store"
)

// persister stores accepted messages. Those that come while a commit is under way
// are committed together afterwards, and answered then. It owns the submits that wait for their commit.
type persister struct {
	*Deps
	batch   store.Batch // of the messages that came since the last Flush
	waiting []storing   // in the order of their positions, and those of the batch behind them
	placed  int         // of these, those that have a position
}

// mostCollected is how large a batch becomes before the journal gets it, which does not divide it.
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
		out.To(toDispatcher, j)
	default:
		discard(out, j)
	}
}

// Flush asks for a commit of what the batch has brought.
func (p *persister) Flush(*flow.Out[Job]) {
	p.append()
	p.Gateway.Keeper.Commit()
}

// append gives the journal the messages of the batch, and them the position of that.
func (p *persister) append() {
	if p.placed == len(p.waiting) {
		return
	}
	at := p.Gateway.Keeper.Append(&p.batch)
	for ; p.placed < len(p.waiting); p.placed++ {
		p.waiting[p.placed].at = at
	}
}

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
	p.waiting, p.placed = p.waiting[:left], left
}
