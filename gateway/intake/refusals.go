package intake

import (
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/route"
)

// LogRefused logs why a message of a session was not accepted, or not immediately, for the first
// of a minute on each connector.
func (d *Desk) LogRefused(now int64, l *connector.Link, sort *node.Sampled, why string) {
	if !sort.Next(l.Connector.Name, now) {
		return
	}
	e := node.OfSession(d.Log.Warn(), l)
	if l.Account != nil {
		e = e.Str("account", l.Account.SystemID)
	}
	e.Msg(why)
}

// LogNoRoom logs that there was no room for a message of a session.
func (d *Desk) LogNoRoom(now int64, l *connector.Link, s *connector.Share) {
	why := "message refused: " + fullQueue(s)
	switch {
	case d.Memory.Full():
		why = "message refused: limits.memory is reached"
	case !s.HasMemory(0):
		why = "message refused: the account's messages take half of limits.memory that others leave, and more would keep others out"
	}
	d.LogRefused(now, l, &d.Storms.NoRoom, why)
}

// WarnNearlyFull logs that most of what may wait for a client does, before SMSCs are refused.
func (d *Desk) WarnNearlyFull(s *connector.Share) {
	if s == nil {
		return
	}
	if n := s.NearlyFull(); n > 0 && d.News.Is("nearly full: "+s.Lane.Account) {
		d.Log.Warn().Str("account", s.Lane.Account).Int64("waiting", n).
			Msg("nearly as many receipts and messages wait for the account as may (max_deliveries); it should bind as a receiver or transceiver")
	}
}

// LogWaits logs that a message of a session waits for room, and its answer with it.
func (d *Desk) LogWaits(now int64, l *connector.Link, s *connector.Share) {
	d.LogRefused(now, l, &d.Storms.Waits, "message answered late: "+fullQueue(s))
}

func fullQueue(s *connector.Share) string {
	return "the queue for " + route.Title(s.Lane) + " is full, or the account's share of it"
}
