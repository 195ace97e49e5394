package session

import (
	"pmg/connector"
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

// A held is what is done to a session when no commit is due to it any more, because
// its answers come before.
type held[R any] struct {
	request R // what is sent then
	send    bool
	last    bool
	reason  string
}

// accept makes a message the gateway's own, and goes on when it is stored.
func (c *Conversation[R]) accept(now int64, p Pending[R]) {
	if p.Message.Parts > 1 || p.More != nil {
		p.Accepted, p.More = c.desk.split(p.Accepted, p.More)
	}
	first := p.Message
	c.intake.InARow(1 + len(p.More))
	c.intake.Accept(now, first, p.Share)
	parked := p.Share == nil
	for _, a := range p.More {
		c.intake.Accept(now, a.Message, a.Share)
		a.Message.Offset = uint16(a.Message.ID - first.ID)
		parked = parked || a.Share == nil
	}
	if first.Parts > 1 {
		c.desk.NoteKeyword(first)
	}
	for _, a := range p.More {
		if a.Message.Parts > 1 && a.Message.Part == 0 {
			c.desk.NoteKeyword(a.Message)
		}
	}
	if !c.desk.Durable() && !parked {
		c.stored(now, p)
		return
	}
	c.store(now, p)
}

// store has messages stored.
func (c *Conversation[R]) store(now int64, p Pending[R]) {
	p.Link.Storing++
	c.desk.Storing.Add(1)
	c.port.Store(now, p)
}

// Stored goes on with a message when its commit has ended. With an error nothing was
// stored.
func (c *Conversation[R]) Stored(now int64, p Pending[R], err bool) {
	defer c.desk.Storing.Add(-1) // behind the answer, for which a stop waits
	p.Link.Storing--
	if err {
		c.notStored(now, p)
	} else {
		c.stored(now, p)
	}
	if p.Link.Storing == 0 {
		c.letGo(now, p.Link)
	}
}

// stored answers the PDU that carried a message, and queues the message.
func (c *Conversation[R]) stored(now int64, p Pending[R]) {
	c.intake.Count(p.Link.Connector, p.Message.Origin)
	for _, a := range p.More {
		c.intake.Count(p.Link.Connector, a.Message.Origin)
	}
	c.reply(now, p, sms.OK, p.Message.ID)
	c.queue(now, p.Accepted)
	for _, a := range p.More {
		c.queue(now, a)
	}
}

// queue gives a message that was stored to its lane.
func (c *Conversation[R]) queue(now int64, a keep.Accepted) {
	if a.Share == nil {
		c.desk.intake.IsAside(a)
		a.Message.Release() // it is in the store
		return
	}
	if a.Share.Lane.Home().Form().Long == fit.Join {
		c.intake.Flush() // because the lane may get the whole message before this batch ends
		if c.desk.intake.Join(now, a) {
			return
		}
	}
	c.port.Queue(now, a.Share, a.Message)
}

// notStored refuses a message that could not be stored.
func (c *Conversation[R]) notStored(now int64, p Pending[R]) {
	c.cancel(p.Link.Connector, p.Accepted)
	for _, a := range p.More {
		c.cancel(p.Link.Connector, a)
	}
	c.reply(now, p, sms.SystemError, 0)
}

// reply answers the PDU that carried a message, unless its session is over.
func (c *Conversation[R]) reply(now int64, p Pending[R], code sms.Code, id uint64) {
	if p.Link.Phase == connector.Over {
		c.port.Drop(p.Link, p.Request)
		return
	}
	c.answer(now, p.Link, p.Request, code, id, p.After)
}

// cancel takes back the acceptance of a message that could not be stored.
func (c *Conversation[R]) cancel(from *connector.Connector, a keep.Accepted) {
	if a.Share != nil {
		c.intake.Cancel(a.Message, a.Share)
	} else {
		c.desk.CountAside(a.Message.Origin, a.Aside(), -1)
	}
	from.Stats.Refused.Add(1)
	a.Message.Origin.Tally.Refused.Add(1)
	a.Message.Release()
}

// hold keeps back what ends a session, or begins to, while messages of the session
// wait for their commit. It reports whether it does.
func (c *Conversation[R]) hold(l *connector.Link, h held[R]) bool {
	if l.Storing == 0 {
		return false
	}
	if earlier, ok := c.held[l]; ok && earlier.send { // our logout, and now the session ends
		c.port.Drop(l, earlier.request)
	}
	c.held[l] = h
	return true
}

// letGo does what was kept back.
func (c *Conversation[R]) letGo(now int64, l *connector.Link) {
	h, ok := c.held[l]
	if !ok {
		return
	}
	delete(c.held, l)
	if h.send {
		c.port.Send(now, l, h.request, h.last, h.reason)
	} else {
		c.port.Hangup(l, h.reason)
	}
}

// forget drops what was kept back of a session that is over.
func (c *Conversation[R]) forget(l *connector.Link) {
	if h, ok := c.held[l]; ok && h.send {
		c.port.Drop(l, h.request)
	}
	delete(c.held, l)
}

// split puts the parts of each message that suit has found to be too long for its lane in the
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
