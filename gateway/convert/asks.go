package convert

import (
	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// Asks returns the outcomes for which a message asks for receipts when it leaves by a connector. A
// part of a long message asks for success and failure, whatever the client asks for, because the
// client gets one outcome of all parts together.
func Asks(m *sms.Message, c *config.Connector) sms.Notify {
	const ends = sms.NotifySuccess | sms.NotifyFailure
	wanted := m.Notify &^ sms.NotifySent
	if sms.PriceOf(m) != 0 && m.Origin.Tally.Credit.Terms().Undo {
		wanted |= sms.NotifyFailure // needed, because an undelivered message is refunded
	}
	switch {
	case c.Receipts == config.NeverReceipts:
		return 0
	case c.Receipts == config.ForceReceipts:
		return wanted | ends
	case m.Parts > 1 && wanted&ends != 0:
		return wanted | ends
	}
	return wanted
}

// asksFor returns the outcomes for which a message requests receipts when it leaves by a connector
// of either role.
func asksFor(by *connector.Connector, m *sms.Message) sms.Notify {
	c := by.Config()
	if c.Role() == protocols.Server {
		return m.Notify
	}
	return Asks(m, c)
}
