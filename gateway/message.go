package gateway

import (
	"pmg/account"
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

// An Intake makes messages the gateway's own. It is not safe for concurrent use.
type Intake struct {
	gateway  *Gateway
	id, last uint64 // of the block that is in use
	block    uint64

	from, to *connector.Connector // of the messages that are not counted yet
	n        int64
}

// NewIntake makes an Intake that takes so many message ids at once. Where there is
// more than one, only blocks of 1 keep ids in the order of arrival.
func (g *Gateway) NewIntake(block uint64) *Intake { return &Intake{gateway: g, block: block} }

// HasRoom tells whether to's queue takes another message.
func (i *Intake) HasRoom(to *connector.Connector) bool {
	if i.to != to {
		i.Flush()
	}
	return to.Room() > i.n
}

// Accept gives m an id and a place in to's queue. It returns the time before which
// the client should not be answered, so that it keeps its rate.
func (i *Intake) Accept(now int64, m *sms.Message, from, to *connector.Connector, who *account.Account) (answerAfter int64) {
	if i.from != from || i.to != to {
		i.Flush()
		i.from, i.to = from, to
	}
	if i.id == i.last {
		i.last = i.gateway.ids.Add(i.block)
		i.id = i.last - i.block
	}
	i.id++
	m.ID = i.id
	i.n++
	if who == nil {
		return 0
	}
	if wait := who.Reserve(now); wait > 0 {
		return now + wait
	}
	return 0
}

// Flush counts the messages that were accepted. That is before the queue gets them.
func (i *Intake) Flush() {
	if i.n > 0 {
		i.to.Queued.Add(i.n)
		i.from.Stats.Accepted.Add(i.n)
		i.n = 0
	}
}
