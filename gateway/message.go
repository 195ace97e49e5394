package gateway

import (
	"pmg/account"
	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// Prepare makes a message of a PDU that carries one and finds the connector it
// leaves by. With a code other than OK there is no message, and the PDU is to be
// answered with that code.
func (g *Gateway) Prepare(now int64, from *connector.Connector, who *account.Account, s protocols.Session, p protocols.PDU) (*sms.Message, *connector.Connector, sms.Code) {
	if g.draining.Load() {
		return nil, nil, sms.TemporaryFailure
	}
	m := g.Messages.Get()
	if code := s.Message(now, p, m); code != sms.OK {
		m.Release()
		from.Stats.Refused.Add(1)
		return nil, nil, code
	}
	m.From, m.Arrived = from.Name, now
	if who != nil {
		m.Account = who.SystemID
	}
	to := g.route(m, from)
	if to == nil {
		kind := m.Kind
		m.Release()
		g.unrouted.Add(1)
		from.Stats.Refused.Add(1)
		return nil, nil, noRoute(kind)
	}
	m.Own()
	return m, to, sms.OK
}

// route finds the connector a message leaves by. What came from an SMSC does not
// go back there: a route without conditions means clients' messages.
func (g *Gateway) route(m *sms.Message, from *connector.Connector) *connector.Connector {
	route, ok := g.routes.Load().Route(m.Account, m.From, m.Dest.Addr, m.Source.Addr)
	if !ok {
		return nil
	}
	to := route.Pick((*connector.Connector).Up)
	if to == from && !from.Config().Listens() {
		return nil
	}
	return to
}

// noRoute is the answer to a message that no route leads anywhere. A receipt is
// taken all the same: refused, the SMSC would send it again and again, and what
// it tells stands in the pdu log.
func noRoute(kind sms.Kind) sms.Code {
	switch kind {
	case sms.Receipt:
		return sms.OK
	case sms.MO:
		return sms.Rejected
	}
	return sms.BadDestination
}

// Accept makes m one of the gateway's messages: it has an id and a place in
// to's queue from now on. It returns the time before which the client should not
// be answered, so that it keeps its rate.
func (g *Gateway) Accept(now int64, m *sms.Message, from, to *connector.Connector, who *account.Account) (answerAfter int64) {
	m.ID = g.ids.Add(1)
	to.Queued.Add(1)
	from.Stats.Accepted.Add(1)
	if who == nil {
		return 0
	}
	if wait := who.Reserve(now); wait > 0 {
		return now + wait
	}
	return 0
}

// An Outcome is what becomes of a message whose request was answered, or never will be.
type Outcome struct {
	Again     bool  // it goes back to the queue
	NotBefore int64 // Again: not before this time; 0: to its old place, at once
	Pause     int64 // nothing is sent to this connector before this time; 0: go on
}

// Settle decides what becomes of m, which to's peer answered with code, and
// counts it. Unless it goes again, the message is released.
func (g *Gateway) Settle(now int64, to *connector.Connector, m *sms.Message, code sms.Code) (o Outcome) {
	cfg := to.Config()
	switch {
	case code == sms.OK:
		to.Stats.Sent.Add(1)
	case code.SlowDown():
		o = Outcome{Again: true, Pause: now + int64(cfg.ThrottlePause)}
	case code == sms.Timeout:
		m.Attempts++
		o.Again = cfg.OnUnknown == config.Resend
	case code.Retryable():
		m.Attempts++
		o = Outcome{Again: true, NotBefore: now + int64(cfg.RetryDelay)}
	}
	if o.Again && cfg.MaxAttempts > 0 && m.Attempts >= cfg.MaxAttempts {
		o = Outcome{Pause: o.Pause}
	}
	if o.Again {
		to.Stats.Retried.Add(1)
		return o
	}
	if code != sms.OK {
		to.Stats.Failed.Add(1)
	}
	g.Done(to, m)
	return o
}

// Expired drops a message whose validity ran out while it waited.
func (g *Gateway) Expired(to *connector.Connector, m *sms.Message) {
	to.Stats.Expired.Add(1)
	g.Done(to, m)
}

// Done lets go of a message that was accepted.
func (g *Gateway) Done(to *connector.Connector, m *sms.Message) {
	to.Queued.Add(-1)
	m.Release()
}
