package gateway

import (
	"pmg/config"
	"pmg/sms"
)

// forceReceipts has a client's message ask for receipts of its final state, if its account is to
// get those of all its messages.
func (g *Gateway) forceReceipts(m *sms.Message) {
	r := g.routes.Load()
	if !r.forced || m.Kind != sms.Submit {
		return
	}
	if a := r.accounts[m.Origin.Account]; a != nil && a.Receipts == config.ForceReceipts {
		m.Notify |= sms.NotifySuccess | sms.NotifyFailure
	}
}
