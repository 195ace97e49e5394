package gateway

import (
	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// faultyTries is how often a message is tried at which a part of the gateway fails.
const faultyTries = 3

// settleFaulty decides what becomes of such a message: after some tries it is put aside,
// and has not ended. Without a store, in which it could be looked at, it is given up.
func (g *Gateway) settleFaulty(l *connector.Lane, m *sms.Message, a sms.Answer) (o connector.Outcome) {
	if g.Store == nil {
		return o
	}
	m.Attempts = incremented(m.Attempts)
	if m.Attempts < faultyTries {
		wait(m, a.At, l.Config().Retry.Temporary, m.Attempts)
		return connector.Outcome{Again: true}
	}
	m.NotBefore = 0
	g.SetAside(m, keep.LaneName(l), store.Quarantined, "a part of the gateway failed at it; the log says more")
	return connector.Outcome{Aside: true}
}

// defaultParked is how many messages of SMSCs may be parked, which have no account.
const defaultParked = 10_000

// mayPark reports whether another message of its account may be parked beside others that are about
// to be. They wait until an operator decides, and are on no lane's account.
func (g *Gateway) mayPark(m *sms.Message, others *several) bool {
	limit := int64(defaultParked)
	if a := g.Account(m.Origin.Account); a != nil {
		limit = int64(a.MaxParked)
	}
	n := m.Origin.Tally.Parked.Load()
	if others != nil {
		n += others.n
	}
	return n < limit
}

// parks reports whether a message that no route leads anywhere is accepted, and put aside.
func (g *Gateway) parks(m *sms.Message) bool {
	return g.Store != nil && m.Kind != sms.Receipt && g.Config().NoRoute == config.Park
}

// reasonOf returns the reason why a message is put aside, for people.
func (g *Gateway) reasonOf(m *sms.Message, why store.Aside) string {
	if why == store.Parked && g.LacksFirst(m) {
		return "the first part of the long message, whose keyword decides the route, has not come"
	}
	return keep.AsideReasons[why]
}

// isAside notes that a message which waits in no lane was stored.
func (g *Gateway) isAside(a keep.Accepted) {
	if a.Aside() == store.Orphan {
		g.Receipts.Orphans.Keep(a.Message)
	} else {
		g.KeepFirstless(a.Message)
	}
}
