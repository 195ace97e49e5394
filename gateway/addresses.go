package gateway

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// rewriteIn applies the in rules of a connector and of an account, nil where there are
// none, to a message that has arrived. A receipt is not refused, because an SMSC would send
// it again and again.
func (g *Gateway) rewriteIn(m *sms.Message, connector, account *rewrite.Rules) sms.Code {
	if connector == nil && account == nil {
		return sms.OK
	}
	a := g.getAddresses(m)
	code := applyBoth(connector, account, a)
	if code == sms.OK || m.Kind == sms.Receipt {
		if m.Kind == sms.Submit && m.Notify != 0 {
			m.KeepAddresses(a.Source, a.Dest)
		}
		m.SetAddresses(a.Source, a.Dest)
		code = sms.OK
	}
	g.addresses.Put(a)
	return code
}

// rulesIn returns the in rules for the messages of a session.
func rulesIn(l *connector.Link) (connector, account *rewrite.Rules) {
	if l.Account != nil {
		account = l.Account.Config().RewriteIn()
	}
	return l.Connector.Config().RewriteIn(), account
}

// outgoing returns the message that a session's peer is sent: m, or, if m is the one that is
// stored, a copy with the addresses that the out rules make. The stored message does not
// change, because it may be sent again, by another connector. If an address would be too long,
// the destination is left out, so that the peer refuses the message. A receipt of a client's
// message has the addresses that the client wrote, and stays as it is.
func (g *Gateway) outgoing(l *connector.Link, stored, m *sms.Message) *sms.Message {
	var account *rewrite.Rules
	if l.Account != nil {
		account = l.Account.Config().RewriteOut()
	}
	own := l.Connector.Config().RewriteOut()
	if own == nil && account == nil || l.Account != nil && m.IsKnownReceipt() {
		return m
	}
	a := g.getAddresses(m)
	if applyBoth(account, own, a) != sms.OK {
		a.Dest.Addr = nil
	}
	if m == stored {
		m = g.Messages.Copy(m)
	}
	m.SetAddresses(a.Source, a.Dest)
	g.addresses.Put(a)
	return m
}

// getAddresses returns the addresses of a message, for rules to change.
func (g *Gateway) getAddresses(m *sms.Message) *rewrite.Addresses {
	a, ok := g.addresses.Get().(*rewrite.Addresses)
	if !ok {
		a = &rewrite.Addresses{}
	}
	a.Set(m.Source(), m.Dest())
	return a
}

// applyBoth applies rules one after the other; nil stands for none. It returns the first
// refusal.
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
