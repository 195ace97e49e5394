package gateway

import (
	"pmg/config"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

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
