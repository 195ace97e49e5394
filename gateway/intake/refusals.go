package intake

import (
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/route"
)

// LogRefused logs why a message of a session was not accepted, or not immediately, for the first
// of a minute on each connector.
func (d *Checker) LogRefused(now int64, from *connector.Source, sort *node.Sampled, why string) {
	if !sort.Next(from.Connector.Name, now) {
		return
	}
	e := node.OfSource(d.node.Log.Warn(), from)
	if from.Account != nil {
		e = e.Str("account", from.Account.SystemID)
	}
	e.Msg(why)
}

// LogNoRoom logs that there was no room for a message of a session.
func (d *Checker) LogNoRoom(now int64, from *connector.Source, s *connector.Share) {
	why := "message refused: " + fullQueue(s)
	switch {
	case d.node.Memory.Full():
		why = "message refused: limits.memory is reached"
	case !s.HasMemory(0):
		why = "message refused: the account's messages take half of limits.memory that others leave, and more would " +
			"keep others out"
	}
	d.LogRefused(now, from, &d.node.LogLimits.NoRoom, why)
}

// WarnNearlyFull logs that the queue for a client is nearly full, before SMSCs are refused.
func (d *Checker) WarnNearlyFull(s *connector.Share) {
	if s == nil {
		return
	}
	if n := s.NearlyFull(); n > 0 && d.node.Repeats.First("nearly full: "+s.Lane.Account) {
		d.node.Log.Warn().Str("account", s.Lane.Account).Int64("waiting", n).
			Msg(
				"nearly as many receipts and messages wait for the account as may (max_deliveries); it should bind as a " +
					"receiver or transceiver",
			)
	}
}

// LogWaits logs that a session's message, and so its answer, waits for room.
func (d *Checker) LogWaits(now int64, from *connector.Source, s *connector.Share) {
	d.LogRefused(now, from, &d.node.LogLimits.Waits, "message answered late: "+fullQueue(s))
}

func fullQueue(s *connector.Share) string {
	return "the queue for " + route.Title(s.Lane) + " is full, or the account's share of it"
}
