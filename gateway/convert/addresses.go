package convert

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// RewriteIn applies the in rules of a session's connector and account to a message that has
// arrived. It never refuses a receipt, because an SMSC would send the receipt again and again.
func (d *Converter) RewriteIn(l *connector.Source, m *sms.Message) sms.Code {
	connector, account := rulesIn(l)
	if connector == nil && account == nil {
		return sms.OK
	}
	a := d.getAddresses(m)
	code := applyBoth(connector, account, a)
	if code == sms.OK || m.Kind == sms.Receipt {
		if m.Kind == sms.Submit && m.Notify != 0 {
			m.KeepAddresses(a.Source, a.Dest)
		}
		m.SetAddresses(a.Source, a.Dest)
		code = sms.OK
	}
	d.addresses.Put(a)
	return code
}

// rulesIn returns the in rules of a session's connector and account.
func rulesIn(l *connector.Source) (connector, account *rewrite.Rules) {
	if l.Account != nil {
		account = l.Account.Config().RewriteIn()
	}
	return l.Connector.Config().RewriteIn(), account
}

// outgoing returns the message to send to a peer, with the addresses that the out rules make: m
// itself, or a copy if m is the stored one. The stored message does not change, because it may be
// sent again, by another connector. If an address would be too long, or the name of the sender
// cannot be written, the destination is left out, so that the peer refuses the message. A receipt
// of a client's message has the addresses that the client wrote, and stays as it is.
func (d *Converter) outgoing(to *connector.Source, stored, m *sms.Message) *sms.Message {
	var account *rewrite.Rules
	if to.Account != nil {
		account = to.Account.Config().RewriteOut()
	}
	own := to.Connector.Config().RewriteOut()
	if own == nil && account == nil || to.Account != nil && m.IsKnownReceipt() {
		return m
	}
	a := d.getAddresses(m)
	if applyBoth(account, own, a) != sms.OK {
		a.Dest.Addr = nil
	}
	if m == stored {
		m = d.node.Messages.Copy(m)
	}
	if m.SetAddresses(a.Source, a.Dest); to.Account == nil && misnamed(to.Connector, m) != sms.OK {
		m.SetAddresses(a.Source, sms.Address{})
	}
	d.addresses.Put(a)
	return m
}

// CheckLeaving returns OK if an out connector can send a message, with the addresses that its out rules make. It
// returns BadSource if the connector's requests need a sender and there is none, and BadDestination if the recipient
// has TON unknown and is dialed in its country alone, because it begins with 0.
func (d *Converter) CheckLeaving(to *connector.Connector, m *sms.Message) sms.Code {
	if len(m.Source().Addr) > 0 && !isNational(m.Dest()) {
		return sms.OK
	}
	a := d.getAddresses(m)
	defer d.addresses.Put(a)
	a.Tell = nil
	c := to.Config()
	if own := c.RewriteOut(); own != nil {
		own.Apply(a)
	}
	switch {
	case len(a.Source.Addr) == 0 && (!c.IsHTTPSMSC() || c.HTTP.TakesSender()):
		return sms.BadSource
	case isNational(a.Dest):
		return sms.BadDestination
	}
	return sms.OK
}

// isNational reports whether an address is a number as it is dialed in one country: it begins with 0, has an unknown type, and is
// longer than the number of a service.
func isNational(a sms.Address) bool {
	return a.TON == 0 && len(a.Addr) > longestShort && a.Addr[0] == '0'
}

// longestShort is the maximum number of digits of a service's number.
const longestShort = 6

// getAddresses returns the addresses of a message in a form that rules can change.
func (d *Converter) getAddresses(m *sms.Message) *rewrite.Addresses {
	a, ok := d.addresses.Get().(*rewrite.Addresses)
	if !ok {
		a = &rewrite.Addresses{}
	}
	a.Set(m.Source(), m.Dest())
	a.Tell = d.Tell
	return a
}

// applyBoth applies first and then second, either of which may be nil. It returns the code of the
// first refusal, or OK.
func applyBoth(first, second *rewrite.Rules, a *rewrite.Addresses) (refusal sms.Code) {
	if first != nil {
		refusal = first.Apply(a)
	}
	if second == nil {
		return refusal
	}
	if code := second.Apply(a); refusal == sms.OK {
		refusal = code
	}
	return refusal
}

// RewriteOperation applies the in rules to an operation's addresses, as they were applied to the
// addresses of the message. If a rule refuses the addresses, the rules after it are not applied.
func (d *Converter) RewriteOperation(l *connector.Link, o *protocols.Operation) {
	connector, account := rulesIn(&l.Source)
	if connector == nil && account == nil {
		return
	}
	var m sms.Message
	m.Set(o.Source, o.Dest, nil)
	a := d.getAddresses(&m)
	applyBoth(connector, account, a)
	m.SetAddresses(a.Source, a.Dest)
	d.addresses.Put(a)
	if o.Source = m.Source(); o.Dest.Addr != nil {
		o.Dest = m.Dest()
	}
}
