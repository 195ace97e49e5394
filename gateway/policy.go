package gateway

import (
	"pmg/connector"
	"pmg/sms"
)

// Settle implements connector.Policy.
func (g *Gateway) Settle(l *connector.Lane, m *sms.Message, a sms.Answer, alone bool) connector.Outcome {
	return g.Settler.Settle(l, m, a, alone)
}

// Ended implements connector.Policy.
func (g *Gateway) Ended(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	g.Settler.Ended(l, m, a, sent)
}

// Doubled implements connector.Policy.
func (g *Gateway) Doubled(l *connector.Lane, m *sms.Message, a sms.Answer) {
	g.Settler.Doubled(l, m, a)
}

// Halted implements connector.Policy.
func (g *Gateway) Halted() bool { return g.Settler.Halted() }

// Unreadable implements connector.Policy.
func (g *Gateway) Unreadable(l *connector.Lane, s *connector.Share, id uint64) {
	g.Settler.Unreadable(l, s, id)
}
