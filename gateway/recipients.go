package gateway

import (
	"pmg/connector"
	"pmg/protocols"
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
	all    []Accepted
	n      int64 // short messages
	octets int64
	fitted []fitted
}

// isFull reports whether the PDU may become no further messages.
func (v *several) isFull() bool { return v.n >= mostOfOne || v.octets >= mostOctetsOfOne }

// has reports whether it may become a.
func (v *several) has(a Accepted) bool {
	return v.n+a.places() <= mostOfOne && v.octets+a.octets() <= mostOctetsOfOne
}

func (v *several) add(a Accepted) {
	v.all = append(v.all, a)
	v.n += a.places()
	v.octets += a.octets()
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
	code := g.fit(lane, m)
	v.fitted = append(v.fitted, fitted{lane, code, g.Messages.Copy(m)})
	return code
}

// messages accepts a submit to several recipients, each of which gets a message of its own.
// The client is answered when all are stored; the answer names the recipients that are
// refused, or has the first refusal if all are. None waits for room, because the others
// would wait with it.
func (c *Conversation[R]) messages(now int64, l *connector.Link, r R, recipients int) {
	p := c.port.PDU(r)
	v := several{all: make([]Accepted, 0, recipients)}
	defer v.forget()
	refusal, after := sms.OK, int64(0)
	for i := range recipients {
		l.Session.To(p, i)
		a, wait, code := c.recipient(now, l, p, &v)
		after = max(after, wait)
		if code == sms.OK {
			v.add(a)
			continue
		}
		l.Session.Refuse(p, code)
		if refusal == sms.OK {
			refusal = code
		}
	}
	switch {
	case len(v.all) > 0:
	case refusal == sms.Throttled || refusal == sms.QueueFull:
		c.tooMuch(now, l, r, refusal, after)
		return
	default:
		c.answer(now, l, r, refusal, 0, after)
		return
	}
	c.accept(now, Pending[R]{Accepted: v.all[0], More: v.all[1:], Link: l, Request: r, After: after})
}

// recipient returns the message to the recipient that Session.To has named, and the time
// before which the client is not to be answered. others are about to be accepted before it.
func (c *Conversation[R]) recipient(now int64, l *connector.Link, p protocols.PDU, others *several) (a Accepted, after int64, code sms.Code) {
	after, ok := c.admit(now, l)
	if !ok {
		return a, 0, sms.Throttled
	}
	if others.isFull() {
		c.tooMany(now, l)
		return a, after, sms.QueueFull
	}
	m, s, code := c.gateway.Prepare(now, l, p, others)
	if m == nil {
		return a, after, code
	}
	a = Accepted{m, s}
	c.charge(now, l, a)
	switch {
	case !others.has(a):
		c.tooMany(now, l)
	case s != nil && !c.hasRoom(a, others):
		c.gateway.logNoRoom(now, l, s)
		l.CountRefused()
	default:
		return a, after, sms.OK
	}
	m.Release()
	return Accepted{}, after, sms.QueueFull
}

// tooMany notes that a recipient was refused because its PDU becomes too many messages.
func (c *Conversation[R]) tooMany(now int64, l *connector.Link) {
	l.CountRefused()
	c.gateway.logRefused(now, l, &c.gateway.Storms.NoRoom, "message refused: one PDU may become 4096 short messages or 8 MiB at most; send fewer recipients together")
}

// hasRoom reports whether a message's share has room for it beside others that are about
// to be accepted. It has none while submits wait for it.
func (c *Conversation[R]) hasRoom(a Accepted, others *several) bool {
	if b := c.pressure[a.Share]; b != nil && b.Len() > 0 {
		return false
	}
	n := int64(0)
	for _, o := range others.all {
		if o.Share == a.Share {
			n += o.places()
		}
	}
	return c.intake.hasRoomBeside(a, n, others.octets)
}
