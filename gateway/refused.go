package gateway

import (
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/route"
)

// logRefused logs why a message of a session was not accepted, or not immediately, for the first
// of a minute on each connector.
func (g *Gateway) logRefused(now int64, l *connector.Link, sort *node.Sampled, why string) {
	if !sort.Next(l.Connector.Name, now) {
		return
	}
	e := node.OfSession(g.Log.Warn(), l)
	if l.Account != nil {
		e = e.Str("account", l.Account.SystemID)
	}
	e.Msg(why)
}

// logUnknownReceipt logs that a receipt of an SMSC is dropped because its message is not known and there
// is no store to keep it in.
func (g *Gateway) logUnknownReceipt(now int64, l *connector.Link) {
	g.logRefused(now, l, &g.Storms.Unrouted, "receipt accepted and dropped: its message is not known")
}

// logAlert logs that an SMSC says that a mobile is available again. No client is told.
func (g *Gateway) logAlert(now int64, l *connector.Link) {
	if g.Storms.Alerts.Next(l.Connector.Name, now) {
		node.OfSession(g.Log.Info(), l).Msg("alert of a mobile dropped: no client is told that a mobile is available again")
	}
}

// logNoRoom logs that there was no room for a message of a session.
func (g *Gateway) logNoRoom(now int64, l *connector.Link, s *connector.Share) {
	why := "message refused: " + fullQueue(s)
	switch {
	case g.Memory.Full():
		why = "message refused: limits.memory is reached"
	case !s.HasMemory(0):
		why = "message refused: the account's messages take half of limits.memory that others leave, and more would keep others out"
	}
	g.logRefused(now, l, &g.Storms.NoRoom, why)
}

// warnNearlyFull logs that most of what may wait for a client does, before SMSCs are refused.
func (g *Gateway) warnNearlyFull(s *connector.Share) {
	if s == nil {
		return
	}
	if n := s.NearlyFull(); n > 0 && g.News.Is("nearly full: "+s.Lane.Account) {
		g.Log.Warn().Str("account", s.Lane.Account).Int64("waiting", n).
			Msg("nearly as many receipts and messages wait for the account as may (max_deliveries); it should bind as a receiver or transceiver")
	}
}

// logWaits logs that a message of a session waits for room, and its answer with it.
func (g *Gateway) logWaits(now int64, l *connector.Link, s *connector.Share) {
	g.logRefused(now, l, &g.Storms.Waits, "message answered late: "+fullQueue(s))
}

func fullQueue(s *connector.Share) string {
	return "the queue for " + route.Title(s.Lane) + " is full, or the account's share of it"
}
