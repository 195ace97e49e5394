package ucp

import (
	"pmg/protocols"
	"pmg/sms"
)

// Bits of NT.
const (
	ntDelivered    = 1
	ntNotDelivered = 2
	ntBuffered     = 4
)

// A number in RPI that asks for a reply path.
const replyRequested = '1'

// Message implements protocols.Session.
func (s *session) Message(now int64, pdu protocols.PDU, m *sms.Message) sms.Code {
	p := pdu.(*PDU)
	b := &p.SM
	m.Kind = s.kindOf(p)
	if m.Kind == sms.Receipt {
		s.receipt(p, m)
		return sms.OK
	}
	exact := false
	m.Alphabet, m.Class, exact = p.coding()
	m.PID = uint8(max(digits(p.get(b.RPID)), 0))
	if b.PR.n > 0 && !p.isOneOf(b.PR, "0") {
		m.Priority = 1
	}
	m.Notify = p.notify()
	if b.RPI.n == 1 && p.text[b.RPI.at] == replyRequested {
		m.Flags |= sms.ReplyPath
	}
	text := p.userData(m)
	m.Set(s.originator(p), s.number(p.recipient()), text)
	s.setNative(p, m, exact)
	if m.Kind != sms.Submit {
		return sms.OK
	}
	if p.OT == MultipleCall && !isRecipient(p.recipient()) {
		return sms.BadDestination
	}
	return s.times(now, p, m)
}

func (s *session) kindOf(p *PDU) sms.Kind {
	switch {
	case p.OT == Notify:
		return sms.Receipt
	case s.o.Role == protocols.Client:
		return sms.MO
	}
	return sms.Submit
}

// notify returns the outcomes for which the sender wants notifications. Without NT, these are the final
// outcomes. The notifications go to the session, whatever address the message names for them.
func (p *PDU) notify() (n sms.Notify) {
	if !p.isOn(p.SM.NRq) {
		return 0
	}
	nt := digits(p.get(p.SM.NT))
	if nt <= 0 {
		nt = ntDelivered | ntNotDelivered
	}
	if nt&ntDelivered != 0 {
		n |= sms.NotifySuccess
	}
	if nt&ntNotDelivered != 0 {
		n |= sms.NotifyFailure
	}
	if nt&ntBuffered != 0 {
		n |= sms.NotifyProgress
	}
	return n
}

// appendNT appends NT for a sms.Notify.
func appendNT(b []byte, n sms.Notify) []byte {
	nt := byte('0')
	if n&sms.NotifySuccess != 0 {
		nt |= ntDelivered
	}
	if n&sms.NotifyFailure != 0 {
		nt |= ntNotDelivered
	}
	if n&sms.NotifyProgress != 0 {
		nt |= ntBuffered
	}
	return append(b, nt)
}

// userData returns the user data of a message, with its header, in p's own storage.
func (p *PDU) userData(m *sms.Message) []byte {
	at := len(p.buf)
	if header, ok := findXSer(p.get(p.SM.XSer), xserHeader); ok && len(header) > 0 {
		m.Flags |= sms.HasHeader
		p.buf = appendUnhex(p.buf, header)
	}
	v := p.get(p.SM.Msg)
	if !p.isHex() {
		p.buf = append(p.buf, v...)
		return p.buf[at:]
	}
	from := len(p.buf)
	p.buf = appendUnhex(p.buf, v)
	switch {
	case m.Alphabet == sms.UCS2:
		p.buf = p.buf[:from+len(bigEndian(p.buf[from:]))]
	case m.Alphabet == sms.Default && p.isType('4'):
		p.unpacked(from)
	}
	return p.buf[at:]
}

// bigEndian returns a text in UTF-16, most significant octet first, without a byte order mark. Some clients send the other
// order, with a mark.
func bigEndian(b []byte) []byte {
	if len(b) < 2 {
		return b
	}
	swap := b[0] == 0xFF && b[1] == 0xFE
	if !swap && (b[0] != 0xFE || b[1] != 0xFF) {
		return b
	}
	n := copy(b, b[2:])
	for i := 0; swap && i+1 < n; i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return b[:n]
}

// times reads the delivery time and the end of the validity. A delivery time in the past means now.
func (s *session) times(now int64, p *PDU, m *sms.Message) sms.Code {
	b := &p.SM
	if p.isOn(b.DD) {
		at, ok := parseTime(p.get(b.DDT), s.zone)
		if !ok {
			return sms.BadSchedule
		}
		if at > now {
			m.DeliverAt = at
		}
	}
	if b.VP.n > 0 {
		at, ok := parseTime(p.get(b.VP), s.zone)
		if !ok || at <= max(now, m.DeliverAt) {
			return sms.BadValidity
		}
		m.Expires = at
	}
	return sms.OK
}

// Answer implements protocols.Session. A message id is AdC:SCTS. Messages of an operation 02
// have the same SCTS, and a recipient that was refused has none.
func (s *session) Answer(pdu protocols.PDU, code sms.Code, id uint64) {
	p := pdu.(*PDU)
	s.theirs[p.TRN/64] &^= 1 << (p.TRN % 64)
	if code != sms.OK {
		p.refuse(ecOf(code), "")
		return
	}
	var room [maxAddress + 1 + secondLen]byte
	sm := room[:0]
	switch {
	case p.OT == MultipleCall && s.peer == smt:
		for i := range p.recipients() {
			if i > 0 {
				sm = append(sm, ',')
			}
			if sm = append(sm, fit(p.recipientAt(i), maxAddress)...); p.rare().refused&(1<<i) == 0 {
				sm = appendStamp(append(sm, ':'), id)
			}
		}
	case isSubmit(p.OT) && s.peer == smt:
		sm = append(append(sm, fit(p.recipient(), maxAddress)...), ':')
		sm = appendStamp(sm, id)
	case s.options.DeliveryIDs && p.SM.SCTS.n > 0:
		sm = append(append(sm, fit(p.get(p.SM.AdC), maxAddress)...), ':')
		sm = append(sm, p.get(p.SM.SCTS)...)
	}
	p.answer(sms.OK)
	p.put(&p.SysMsg, sm)
}
