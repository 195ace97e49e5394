package gateway

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// messages accepts a submit to several recipients, each of which gets a message of its own.
// The client is answered when all are stored; the answer names the recipients that are
// refused, or has the first refusal if all are. None waits for room, because the others
// would wait with it.
func (c *Conversation[R]) messages(now int64, l *connector.Link, r R, recipients int) {
	p := c.port.PDU(r)
	all := make([]Accepted, 0, recipients)
	refusal, after := sms.OK, int64(0)
	for i := range recipients {
		l.Session.To(p, i)
		a, wait, code := c.recipient(now, l, p, all)
		if code == sms.OK {
			all, after = append(all, a), max(after, wait)
			continue
		}
		l.Session.Refuse(p, code)
		if refusal == sms.OK {
			refusal = code
		}
	}
	if len(all) == 0 {
		c.answer(now, l, r, refusal, 0, after)
		return
	}
	c.accept(now, Pending[R]{Accepted: all[0], More: all[1:], From: l.Connector, Link: l, Request: r, After: after})
}

// recipient returns the message to the recipient that Session.To has named, and the time
// before which the client is not to be answered. others are about to be accepted before it.
func (c *Conversation[R]) recipient(now int64, l *connector.Link, p protocols.PDU, others []Accepted) (a Accepted, after int64, code sms.Code) {
	m, s, code := c.gateway.Prepare(now, l, p)
	if m == nil {
		return a, 0, code
	}
	after, ok := c.admit(now, l)
	switch {
	case !ok:
		code = sms.Throttled
		c.gateway.logRefused(now, l, &c.gateway.storms.fast, "message refused: the account is faster than its rate")
	case s != nil && !c.hasRoom(s, others):
		code = sms.QueueFull
		c.gateway.logNoRoom(now, l, s)
	default:
		return Accepted{m, s}, after, sms.OK
	}
	m.Release()
	l.CountRefused()
	return a, 0, code
}

// hasRoom reports whether a share has room for another message beside others that are about
// to be accepted. It has none while submits wait for it.
func (c *Conversation[R]) hasRoom(s *connector.Share, others []Accepted) bool {
	if b := c.pressure[s]; b != nil && b.Len() > 0 {
		return false
	}
	n := int64(0)
	for _, o := range others {
		if o.Share == s {
			n++
		}
	}
	return c.intake.hasRoomBeside(s, n)
}
