package gateway

import (
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// SeeClock notes the engine's time, looks after the store, and sums up what the log was
// spared. It is called about once a second.
func (g *Gateway) SeeClock(now int64) {
	g.Clock.See(now)
	g.Upkeep(now, g.upkeep)
	g.endJoining(now)
	g.Storms.SumUp(&g.Log, now-node.SampleTime)
}

// message reads the message of a session's PDU.
func (g *Gateway) message(now int64, l *connector.Link, p protocols.PDU, m *sms.Message) sms.Code {
	ahead := g.Clock.Ahead()
	code := l.Session.Message(now+ahead, p, m)
	if m.Kind != sms.Receipt {
		switch f := l.Connector.Form(); m.Alphabet {
		case sms.Default:
			m.Alphabet = f.Default
		case sms.ASCII:
			m.Alphabet = f.ASCII
		}
	}
	if m.DeliverAt != 0 {
		m.DeliverAt -= ahead
	}
	if m.Expires != 0 {
		m.Expires -= ahead
	}
	return code
}

// Encode fills p with the request that carries m to the peer of a session. The caller is
// the only user of m during the call. p's slices point into m, or into the copy of it that
// Encode returns, which the caller releases when it does not use p any more.
func (g *Gateway) Encode(now int64, l *connector.Link, p protocols.PDU, m *sms.Message, sequence uint32) (copied *sms.Message) {
	out := m
	if m.Protocol() != l.Connector.Protocol {
		out = g.crossing(l.Connector, m)
	} else if _, native := m.NativePart(); len(native) > 0 {
		g.countDropped(l, m)
	}
	if out = g.suited(l, m, g.outgoing(l, m, out)); out != m {
		m, copied = out, out
	}
	if m.Kind == sms.Submit {
		notify := m.Notify
		m.Notify = g.asksFor(l, m)
		defer func() { m.Notify = notify }()
	}
	ahead := g.Clock.Ahead()
	if ahead == 0 || m.Expires == 0 {
		l.Session.Encode(now, p, m, sequence)
		return copied
	}
	m.Expires += ahead
	l.Session.Encode(now+ahead, p, m, sequence)
	m.Expires -= ahead
	return copied
}
