package intake

import (
	"pmg/config"
	"pmg/sms"
)

// forceReceipts requests receipts of the final state of a client's message, if the account's
// options demand receipts for all messages.
func (d *Checker) forceReceipts(m *sms.Message) {
	if !d.table.ForcesReceipts() || m.Kind != sms.Submit {
		return
	}
	if a := d.table.Account(m.Origin.Account); a != nil && a.Receipts == config.ForceReceipts {
		m.Notify |= sms.NotifySuccess | sms.NotifyFailure
	}
}
