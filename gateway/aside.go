package gateway

import (
	"pmg/config"
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// faultyTries is how often a message is tried at which a part of the gateway fails.
const faultyTries = 3

// settleFaulty decides what becomes of such a message: after some tries it is put aside,
// and has not ended. Without a store, in which it could be looked at, it is given up.
func (g *Gateway) settleFaulty(l *connector.Lane, m *sms.Message, a sms.Answer) (o connector.Outcome) {
	if g.store == nil {
		return o
	}
	m.Attempts = incremented(m.Attempts)
	if m.Attempts < faultyTries {
		m.NotBefore = a.At + stepAside(l.Config(), m.Attempts)
		return connector.Outcome{Again: true}
	}
	m.NotBefore = 0
	g.setAside(m, laneName(l), store.Quarantined, "a part of the gateway failed at it; the log says more", false)
	return connector.Outcome{Aside: true}
}

// park accepts a message that waits in no lane, until an operator decides. It returns the
// number of the batch in which it does.
func (g *Gateway) park(m *sms.Message) (batch uint64) {
	return g.setAside(m, store.Lane{}, store.Parked, parkedReason, true)
}

// setAside keeps a message in the store that waits in no lane, until an operator decides.
// new says that the store does not have it. It returns the number of the batch in which it
// does.
func (g *Gateway) setAside(m *sms.Message, lane store.Lane, why store.Aside, reason string, new bool) (batch uint64) {
	b := g.Committer.Begin()
	b.Ahead = g.wall.ahead.Load()
	if new {
		b.Put(m, lane)
	}
	b.Keep(m, store.State{Lane: lane, Aside: why, Reason: reason})
	batch = g.Committer.End()
	g.aside[why].Add(1)
	if g.isNews("aside") {
		g.Log.Warn().Str("id", MessageID(m.ID)).Str("account", m.Account()).Str("reason", reason).
			Msg("a message was put aside; pmg queue shows those that were")
	}
	return batch
}

// Aside returns how many messages were put aside, and not taken up again, for a reason.
func (g *Gateway) Aside(why store.Aside) int64 { return g.aside[why].Load() }

// parks reports whether a message that no route leads anywhere is accepted, and put aside.
func (g *Gateway) parks(m *sms.Message) bool {
	return g.store != nil && m.Kind != sms.Receipt && g.Config().NoRoute == config.Park
}

// parkedReason is why messages are parked.
const parkedReason = "no route leads anywhere"
