package gateway

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

// One PDU may become this many short messages at most, and as many octets, so that one does not
// keep the other sessions waiting. What is beyond is refused for now, and can be sent in a PDU of
// its own.
const (
	mostOfOne       = 4096
	mostOctetsOfOne = 8 << 20
)

// several is the messages of a submit to several recipients.
type several struct {
	all    []keep.Accepted
	n      int64 // short messages
	octets int64
	fitted []fitted

	recipients, next int      // how many the PDU has; which is next
	refusal          sms.Code // the first one
	after            int64    // time before which the client is not answered
}

// isFull reports whether the PDU may become no further messages.
func (v *several) isFull() bool { return v.n >= mostOfOne || v.octets >= mostOctetsOfOne }

// has reports whether it may become a.
func (v *several) has(a keep.Accepted) bool {
	return v.n+a.Places() <= mostOfOne && v.octets+a.Octets() <= mostOctetsOfOne
}

func (v *several) add(a keep.Accepted) {
	v.all = append(v.all, a)
	v.n += a.Places()
	v.octets += a.Octets()
}

// forget releases what the texts were fitted with.
func (v *several) forget() {
	for _, f := range v.fitted {
		f.message.Release()
	}
}

// fitted is how a text was made to fit a lane.
type fitted struct {
	lane    *connector.Lane
	code    sms.Code
	message *sms.Message // that has the text
}

// fit makes the text of a message one that a lane's peers take. That is done once for all
// recipients behind a lane.
func (v *several) fit(g *Gateway, lane *connector.Lane, m *sms.Message) sms.Code {
	for _, f := range v.fitted {
		if f.lane != lane {
			continue
		}
		if f.code == sms.OK {
			m.SetText(f.message.Text())
			m.Alphabet, m.Parts = f.message.Alphabet, f.message.Parts
			m.Flags = m.Flags&^(sms.HasHeader|sms.Converted) | f.message.Flags&(sms.HasHeader|sms.Converted)
		}
		return f.code
	}
	code := g.Convert.Fit(lane, m)
	v.fitted = append(v.fitted, fitted{lane, code, g.Messages.Copy(m)})
	return code
}

// messages accepts a submit to several recipients, each of which gets a message of its own.
// The client is answered when all are stored; the answer names the recipients that are
// refused, or has the first refusal if all are. None waits for room, because the others
// would wait with it.
func (c *Conversation[R]) messages(now int64, l *connector.Link, r R, recipients int) {
	c.recipients(now, l, r, &several{all: make([]keep.Accepted, 0, recipients), recipients: recipients})
}

// recipients goes on with the next recipient.
func (c *Conversation[R]) recipients(now int64, l *connector.Link, r R, v *several) {
	p := c.port.PDU(r)
	for v.next < v.recipients {
		l.Can.Recipients.To(p, v.next)
		v.next++
		c.submission = submission{way: Submitted, from: l, pdu: p, others: v, desk: c}
		if !c.recipient(now, l, r, v, &c.submission) {
			return
		}
	}
	v.forget()
	if len(v.all) == 0 {
		c.answerRefusal(now, l, r, v.refusal, v.after)
		return
	}
	c.accept(now, Pending[R]{Accepted: v.all[0], More: v.all[1:], Link: l, Request: r, After: v.after})
}

// recipient has the message to a recipient take its steps. It returns false if that goes on later,
// and the other recipients wait.
func (c *Conversation[R]) recipient(now int64, l *connector.Link, r R, v *several, s *submission) (goesOn bool) {
	switch c.gateway.take(now, s) {
	case Later:
		own := *s
		c.workFor(l, r, &own, func(now int64) {
			if c.recipient(now, l, r, v, &own) {
				c.recipients(now, l, r, v)
			}
		})
		return false
	case Refuse:
		s.drop()
		l.Can.Recipients.Refuse(c.port.PDU(r), s.code)
		if v.refusal == sms.OK {
			v.refusal = s.code
		}
	default:
		v.add(s.accepted())
	}
	v.after = max(v.after, s.after)
	return true
}

// hasRoom reports whether a message's share has room for it beside others that are about
// to be accepted. It has none while submits wait for it.
func (c *Conversation[R]) hasRoom(a keep.Accepted, others *several) bool {
	if b := c.pressure[a.Share]; b != nil && b.Len() > 0 {
		return false
	}
	if others == nil {
		return c.intake.HasRoom(a)
	}
	n := int64(0)
	for _, o := range others.all {
		if o.Share == a.Share {
			n += o.Places()
		}
	}
	return c.intake.hasRoomBeside(a, n, others.octets)
}

// suit makes a message that comes in for a lane one that the lane's peers take: of their
// protocol, and with a text that they read. Most messages stay as they are. With a code other
// than OK it cannot be done. A message that must be split has the number of its parts
// afterwards. others are the other messages of a PDU with several recipients, or nil.
func (g *Gateway) suit(lane *connector.Lane, m *sms.Message, others *several) (code sms.Code) {
	if code := g.Convert.Cross(lane, m); code != sms.OK {
		return code
	}
	if others != nil {
		return others.fit(g, lane, m)
	}
	return g.Convert.Fit(lane, m)
}
