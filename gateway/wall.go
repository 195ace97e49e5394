package gateway

import (
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// wall relates the engine's clock, which never goes back and which all timers use,
// to the wall clock, which an administrator or NTP may set. Absolute times in PDUs are
// read and written by the wall clock at that moment. It is safe for concurrent use.
type wall struct {
	ahead atomic.Int64 // nanoseconds that the wall clock is ahead of the engine's
}

// leastStep is the smallest difference that counts as a step of the wall clock. A smaller
// one is the time that has passed since the engine's batch began.
const leastStep = int64(50 * time.Millisecond)

// see compares the clocks and stores the difference.
func (w *wall) see(now, wallNow int64) {
	if ahead := wallNow - now; ahead > w.ahead.Load()+leastStep || ahead < w.ahead.Load()-leastStep {
		w.ahead.Store(ahead)
	}
}

// SeeClock notes the engine's time, looks after the store, and sums up what the log was
// spared. It is called about once a second.
func (g *Gateway) SeeClock(now int64) {
	g.wall.see(now, g.WallClock().UnixNano())
	g.checkStore(now)
	g.endJoining(now)
	g.sumUp(now - sampleTime)
}

// message reads the message of a session's PDU.
func (g *Gateway) message(now int64, l *connector.Link, p protocols.PDU, m *sms.Message) sms.Code {
	ahead := g.wall.ahead.Load()
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
	ahead := g.wall.ahead.Load()
	if ahead == 0 || m.Expires == 0 {
		l.Session.Encode(now, p, m, sequence)
		return copied
	}
	m.Expires += ahead
	l.Session.Encode(now+ahead, p, m, sequence)
	m.Expires -= ahead
	return copied
}
