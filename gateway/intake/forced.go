package intake

import (
	"pmg/config"
	"pmg/sms"
)

// forceReceipts has a client's message ask for receipts of its final state, if its account is to
// get those of all its messages.
func (d *Checker) forceReceipts(m *sms.Message) {
	if !d.table.ForcesReceipts() || m.Kind != sms.Submit {
		return
	}
	if a := d.table.Account(m.Origin.Account); a != nil && a.Receipts == config.ForceReceipts {
		m.Notify |= sms.NotifySuccess | sms.NotifyFailure
	}
}
