package smpp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// Bits of esm_class (§5.2.12).
const (
	classMode         = 0x03 // how to handle a submit; nothing in a delivery
	classType         = 0x3C
	classReceipt      = 0x04
	classIntermediate = 0x20
	classHeader       = 0x40 // the text begins with a user data header
)

// maxShort is the longest text that is sent in short_message (§5.2.21); a longer
// one goes into message_payload.
const maxShort = 254

// maxPriority is the highest priority_flag that means anything (SMPP 5.0).
const maxPriority = 4

// Message implements protocols.Session.
func (s *session) Message(now int64, pdu protocols.PDU, m *sms.Message) sms.Code {
	p := pdu.(*PDU)
	b := &p.SM
	m.Kind = sms.MO
	switch {
	case p.ID == SubmitSM:
		m.Kind = sms.Submit
	case b.ESMClass&classType == classReceipt, b.ESMClass&classType == classIntermediate:
		m.Kind = sms.Receipt
	}
	m.Source = sms.Address{TON: b.SourceTON, NPI: b.SourceNPI, Addr: b.SourceAddr}
	m.Dest = sms.Address{TON: b.DestTON, NPI: b.DestNPI, Addr: b.DestAddr}
	m.Service = b.ServiceType
	m.Class, m.PID, m.DCS = b.ESMClass, b.ProtocolID, b.DataCoding
	m.Priority = min(b.PriorityFlag, maxPriority)
	m.RegisteredDelivery = b.RegisteredDelivery
	m.Replace, m.DefaultID = b.ReplaceIfPresent, b.DefaultMsgID
	m.Validity = b.ValidityPeriod
	m.Text, m.Params = b.ShortMessage, b.TLVs

	payload, ok := FindTLV(b.TLVs, tagPayload)
	if ok {
		m.Params = p.withoutPayload()
	}
	both := len(payload) > 0 && len(m.Text) > 0
	if len(payload) > 0 { // an empty one next to a short_message counts as absent
		m.Text = payload
	}
	if !s.optional() {
		m.Params = nil
	}
	if m.Kind != sms.Submit {
		return sms.OK // it has been on its way: better delivered odd than not
	}
	if both || m.Class&classHeader != 0 && !hasHeader(m.Text) {
		return sms.BadLength
	}
	if len(m.Dest.Addr) == 0 {
		return sms.BadDestination
	}
	return s.times(now, b, m)
}

// hasHeader tells whether text is long enough for the user data header that it
// says it begins with.
func hasHeader(text []byte) bool { return len(text) > 0 && int(text[0]) < len(text) }

// times reads when a message may be sent and until when. A delivery time in the
// past means at once.
func (s *session) times(now int64, b *SM, m *sms.Message) sms.Code {
	at, ok := parseTime(b.ScheduleDeliveryTime, now)
	if !ok {
		return sms.BadSchedule
	}
	if at > now {
		m.DeliverAt = at
	}
	m.Expires, ok = parseTime(b.ValidityPeriod, now)
	if !ok || m.Expires != 0 && m.Expires <= max(now, m.DeliverAt) {
		return sms.BadValidity
	}
	return sms.OK
}

// withoutPayload gives the optional parameters without message_payload, which
// is a message's text.
func (p *PDU) withoutPayload() []byte {
	p.own = p.own[:0]
	for tag, value := range TLVs(p.SM.TLVs) {
		if tag != tagPayload {
			p.own = AppendTLV(p.own, tag, value)
		}
	}
	return p.own
}

// Answer implements protocols.Session. A refusal has no body (§4.4.2).
func (s *session) Answer(pdu protocols.PDU, code sms.Code, id uint64) {
	p := pdu.(*PDU)
	status := statusOf(code)
	if code == sms.Rejected && p.ID == DeliverSM {
		status = StatusRxRAppn // RSUBMITFAIL is no answer to a delivery
	}
	p.answer(p.ID|Response, status)
	if code != sms.OK {
		return
	}
	p.SMResp.Body = true
	if p.ID == SubmitSMResp {
		p.SMResp.MessageID = s.messageID(&p.id, id)
	}
}

// messageID writes an id in hex digits: 16, or the 8 that fit into an answer to
// a peer of SMPP 3.3.
func (s *session) messageID(b *[16]byte, id uint64) []byte {
	const digits = "0123456789abcdef"
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[id&15]
		id >>= 4
	}
	if s.optional() {
		return b[:]
	}
	return b[8:]
}

// Encode implements protocols.Session. schedule_delivery_time stays empty: the
// gateway has waited itself.
func (s *session) Encode(pdu protocols.PDU, m *sms.Message, sequence uint32) {
	p := pdu.(*PDU)
	p.answer(DeliverSM, 0)
	p.SequenceNumber = sequence
	p.SM = SM{
		ServiceType: fit(m.Service, 6),
		SourceAddr:  fit(m.Source.Addr, 21), SourceTON: m.Source.TON, SourceNPI: m.Source.NPI,
		DestAddr: fit(m.Dest.Addr, 21), DestTON: m.Dest.TON, DestNPI: m.Dest.NPI,
		ESMClass: m.Class &^ classMode, ProtocolID: m.PID, PriorityFlag: m.Priority,
		RegisteredDelivery: m.RegisteredDelivery, DataCoding: m.DCS,
		ShortMessage: m.Text,
	}
	p.own = p.own[:0]
	if s.o.Client {
		p.ID = SubmitSM
		p.SM.ESMClass = m.Class
		p.SM.ReplaceIfPresent, p.SM.DefaultMsgID = m.Replace, m.DefaultID
		p.SM.ValidityPeriod = p.validity(m)
	}
	if s.optional() {
		p.SM.TLVs = m.Params
	}
	if len(m.Text) > maxShort {
		p.setPayload(m.Text)
	}
}

// setPayload puts a text into message_payload. A peer that knows no optional
// parameters refuses that; cut, the text would be another one.
func (p *PDU) setPayload(text []byte) {
	n := len(p.own)
	p.own = append(p.own, p.SM.TLVs...)
	p.own = AppendTLV(p.own, tagPayload, text[:min(len(text), 0xFFFF)])
	p.SM.TLVs, p.SM.ShortMessage = p.own[n:], nil
}

// validity gives a message's validity_period as its sender wrote it; in our own
// words if that was in another protocol.
func (p *PDU) validity(m *sms.Message) []byte {
	if _, ok := parseTime(m.Validity, 0); ok && len(m.Validity) > 0 {
		return m.Validity
	}
	if m.Expires == 0 {
		return nil
	}
	p.own = appendTime(p.own, m.Expires)
	return p.own
}

// fit gives a string that fits a field of size octets with its NUL. Half an
// address is somebody else's, so one that does not fit is left out and the peer
// refuses it.
func fit(v []byte, size int) []byte {
	if len(v) >= size || bytes.IndexByte(v, 0) >= 0 {
		return nil
	}
	return v
}
