package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// messages accepts a submit to several recipients, each of which gets a message of its own.
// The client is answered when all are stored; the answer names the recipients that are
// refused, or has the first refusal if all are. None waits for room, because the others
// would wait with it.
func (c *Conversation[R]) messages(now int64, l *connector.Link, r R, recipients int) {
	c.recipients(now, l, r, &intake.Several{All: make([]keep.Accepted, 0, recipients), Recipients: recipients})
}

// recipients goes on with the next recipient.
func (c *Conversation[R]) recipients(now int64, l *connector.Link, r R, v *intake.Several) {
	p := c.port.PDU(r)
	for v.Next < v.Recipients {
		l.Can.Recipients.To(p, v.Next)
		v.Next++
		c.submission = intake.Submission{Way: intake.Submitted, From: &l.Source, Session: l, PDU: p, Others: v, Room: c}
		if !c.recipient(now, l, r, v, &c.submission) {
			return
		}
	}
	v.Forget()
	if len(v.All) == 0 {
		c.answerRefusal(now, l, r, v.Refusal, v.After)
		return
	}
	c.accept(now, Pending[R]{Accepted: v.All[0], More: v.All[1:], Link: l, Request: r, After: v.After})
}

// recipient has the message to a recipient take its steps. It returns false if that goes on later,
// and the other recipients wait.
func (c *Conversation[R]) recipient(now int64, l *connector.Link, r R, v *intake.Several, s *intake.Submission) (goesOn bool) {
	switch c.desk.intake.Take(now, s) {
	case intake.Later:
		own := *s
		c.workFor(l, r, &own, func(now int64) {
			if c.recipient(now, l, r, v, &own) {
				c.recipients(now, l, r, v)
			}
		})
		return false
	case intake.Refuse:
		s.Drop()
		l.Can.Recipients.Refuse(c.port.PDU(r), s.Code)
		if v.Refusal == sms.OK {
			v.Refusal = s.Code
		}
	default:
		v.Add(s.Accepted())
	}
	v.After = max(v.After, s.After)
	return true
}

// HasRoom implements intake.Room: it reports whether a message's share has room for it beside others that are about
// to be accepted. It has none while submits wait for it.
func (c *Conversation[R]) HasRoom(a keep.Accepted, others *intake.Several) bool {
	if b := c.pressure[a.Share]; b != nil && b.Len() > 0 {
		return false
	}
	if others == nil {
		return c.intake.HasRoom(a)
	}
	n := int64(0)
	for _, o := range others.All {
		if o.Share == a.Share {
			n += o.Places()
		}
	}
	return c.intake.HasRoomBeside(a, n, others.Octets)
}
