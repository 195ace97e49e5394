package smpp

import (
	"pmg/protocols"
	"pmg/sms"
)

// unanswered handles a request that has no response. An outbind is not acted on, because our
// bind is on its way. An alert_notification that cannot be read, or that must not be sent now,
// is ignored.
func (s *session) unanswered(c *command, p *PDU) protocols.Action {
	if p.ID != AlertNotification || p.Err() != nil || s.illegal(c) != StatusOK {
		return protocols.Action{}
	}
	return protocols.Action{Kind: protocols.Alert}
}

// Alert implements protocols.Session. The optional parameters are in the native part.
func (s *session) Alert(pdu protocols.PDU, m *sms.Message) {
	p := pdu.(*PDU)
	b := p.Other().(*Alert)
	m.Set(sms.Address{TON: b.SourceTON, NPI: b.SourceNPI, Addr: b.SourceAddr}, sms.Address{TON: b.ESMETON, NPI: b.ESMENPI, Addr: b.ESMEAddr}, nil)
	native := make([]byte, nativeHead, nativeHead+len(p.Parameters()))
	m.SetNative(protocols.SMPP, append(native, p.Parameters()...))
}

// TakesAlerts implements protocols.Session. SMPP 3.3 has no alert_notification.
func (s *session) TakesAlerts() bool { return s.peer == esme && s.optional() }

// EncodeAlert implements protocols.Session.
func (s *session) EncodeAlert(pdu protocols.PDU, m *sms.Message) {
	p := pdu.(*PDU)
	p.answer(AlertNotification, 0)
	p.SequenceNumber = s.NextSequence()
	source, dest := m.Source(), m.Dest()
	*p.Other().(*Alert) = Alert{
		SourceTON: source.TON, SourceNPI: source.NPI, SourceAddr: fit(source.Addr, dataAddressSize),
		ESMETON: dest.TON, ESMENPI: dest.NPI, ESMEAddr: fit(dest.Addr, dataAddressSize),
	}
	_, _, p.withExtras().tlvs = nativeOf(m)
}
