package gateway

import (
	"time"

	"pmg/connector"
	"pmg/sms"
)

// A policy is what the lanes ask: each decision is that of a room.
type policy struct{ *Gateway }

// Settle implements connector.Policy.
func (p policy) Settle(l *connector.Lane, m *sms.Message, a sms.Answer, alone bool) connector.Outcome {
	return p.Settler.Settle(l, m, a, alone)
}

// Tried implements connector.Policy.
func (p policy) Tried(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	p.Settler.Tried(l, m, a, sent)
}

// Ended implements connector.Policy.
func (p policy) Ended(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	p.Settler.Ended(l, m, a, sent)
}

// Doubled implements connector.Policy.
func (p policy) Doubled(l *connector.Lane, m *sms.Message, a sms.Answer) {
	p.Settler.Doubled(l, m, a)
}

// Halted implements connector.Policy.
func (p policy) Halted() bool { return p.Settler.Halted() }

// Unreadable implements connector.Policy.
func (p policy) Unreadable(l *connector.Lane, s *connector.Share, id uint64) {
	p.Settler.Unreadable(l, s, id)
}

// Disconnected implements connector.Policy.
func (p policy) Disconnected(now int64, l *connector.Link, rest time.Duration) {
	p.Sessions.Disconnected(now, l, rest)
}

// HoldOver implements connector.Policy.
func (p policy) HoldOver(l *connector.Lane) {
	p.Log.Info().Str("connector", l.Home().Name).Msg("the hold of the connector is over: messages are sent to it again")
}
