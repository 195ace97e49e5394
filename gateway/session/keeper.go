package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/sms/fit"
)

// A Pending is a message that was accepted, between its acceptance and its commit.
type Pending[R any] struct {
	keep.Accepted
	More    []keep.Accepted // that came of the same PDU; they are stored in the same commit
	Link    *connector.Link // on which it came
	Request R               // the PDU that carried it
	After   int64           // that is not answered before this time
}

// A keeper makes messages the gateway's own: they get their ids, are stored, answered and queued.
type keeper[R any] struct {
	*replies[R]
	intake *intake.Intake
}

// accept makes a message the gateway's own, and goes on when it is stored.
func (k *keeper[R]) accept(now int64, p Pending[R]) {
	if p.Message.Parts > 1 || p.More != nil {
		p.Accepted, p.More = k.desk.split(p.Accepted, p.More)
	}
	first := p.Message
	k.intake.InARow(1 + len(p.More))
	k.intake.Accept(now, first, p.Share)
	parked := p.Share == nil
	for _, a := range p.More {
		k.intake.Accept(now, a.Message, a.Share)
		a.Message.Offset = uint16(a.Message.ID - first.ID)
		parked = parked || a.Share == nil
	}
	if first.Parts > 1 {
		k.desk.NoteKeyword(first)
	}
	for _, a := range p.More {
		if a.Message.Parts > 1 && a.Message.Part == 0 {
			k.desk.NoteKeyword(a.Message)
		}
	}
	if !k.desk.Durable() && !parked {
		k.stored(now, p)
		return
	}
	k.store(now, p)
}

// store has messages stored.
func (k *keeper[R]) store(now int64, p Pending[R]) {
	p.Link.Storing++
	k.desk.Storing.Add(1)
	k.port.Store(now, p)
}

// ended goes on with a message when its commit has ended. With an error nothing was
// stored.
func (k *keeper[R]) ended(now int64, p Pending[R], err bool) {
	defer k.desk.Storing.Add(-1) // behind the answer, for which a stop waits
	p.Link.Storing--
	if err {
		k.notStored(now, p)
	} else {
		k.stored(now, p)
	}
	if p.Link.Storing == 0 {
		k.letGo(now, p.Link)
	}
}

// stored answers the PDU that carried a message, and queues the message.
func (k *keeper[R]) stored(now int64, p Pending[R]) {
	k.intake.Count(p.Link.Connector, p.Message.Origin)
	for _, a := range p.More {
		k.intake.Count(p.Link.Connector, a.Message.Origin)
	}
	k.reply(now, p, sms.OK, p.Message.ID)
	k.queue(now, p.Accepted)
	for _, a := range p.More {
		k.queue(now, a)
	}
}

// queue gives a message that was stored to its lane.
func (k *keeper[R]) queue(now int64, a keep.Accepted) {
	if a.Share == nil {
		k.desk.intake.IsAside(a)
		a.Message.Release() // it is in the store
		return
	}
	if a.Share.Lane.Home().Form().Long == fit.Join {
		k.intake.Flush() // because the lane may get the whole message before this batch ends
		if k.desk.intake.Join(now, a) {
			return
		}
	}
	k.port.Queue(now, a.Share, a.Message)
}

// notStored refuses a message that could not be stored.
func (k *keeper[R]) notStored(now int64, p Pending[R]) {
	k.cancel(p.Link.Connector, p.Accepted)
	for _, a := range p.More {
		k.cancel(p.Link.Connector, a)
	}
	k.reply(now, p, sms.SystemError, 0)
}

// reply answers the PDU that carried a message, unless its session is over.
func (k *keeper[R]) reply(now int64, p Pending[R], code sms.Code, id uint64) {
	if p.Link.Phase == connector.Over {
		k.port.Drop(p.Link, p.Request)
		return
	}
	k.answer(now, p.Link, p.Request, code, id, p.After)
}

// cancel takes back the acceptance of a message that could not be stored.
func (k *keeper[R]) cancel(from *connector.Connector, a keep.Accepted) {
	if a.Share != nil {
		k.intake.Cancel(a.Message, a.Share)
	} else {
		k.desk.CountAside(a.Message.Origin, a.Aside(), -1)
	}
	from.Stats.Refused.Add(1)
	a.Message.Origin.Tally.Refused.Add(1)
	a.Message.Release()
}

// split puts the parts of each message that Fit has found to be too long for its lane in the
// place of the message.
func (d *Desk) split(first keep.Accepted, more []keep.Accepted) (keep.Accepted, []keep.Accepted) {
	all := make([]keep.Accepted, 0, len(more)+int(first.Message.Parts)+1)
	all = d.appendParts(all, first)
	for _, a := range more {
		all = d.appendParts(all, a)
	}
	return all[0], all[1:]
}

func (d *Desk) appendParts(all []keep.Accepted, a keep.Accepted) []keep.Accepted {
	m := a.Message
	if m.Parts < 2 || a.Share == nil {
		m.Parts = 0
		return append(all, a)
	}
	parts := d.convert.Split(a.Share.Lane.Home().Form(), m)
	if parts == nil {
		return append(all, a)
	}
	for _, p := range parts {
		all = append(all, keep.Accepted{Message: p, Share: a.Share})
	}
	return all
}
