package ucp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// check returns the error code for refusing a message from a side, and a text with the reason, or 0. Messages from an SMSC are
// refused only if they have no readable text, because they are already on their way.
func (p *PDU) check(by side) (ec uint8, text string) {
	m := &p.SM
	if p.isHex() && !isHex(p.get(m.Msg)) || !isXSer(p.get(m.XSer)) {
		return ecSyntax, ""
	}
	if by == smsc {
		return 0, ""
	}
	if p.OT == Supplementary {
		if ec, text := p.checkLegacy(); ec != 0 {
			return ec, text
		}
	}
	if p.OT != MultipleCall && !isRecipient(p.recipient()) { // Message checks the recipients of an operation 02
		return ecAdC, ""
	}
	if !p.hasOriginator() {
		return ecSyntax, ""
	}
	if ec := p.checkText(); ec != 0 {
		return ec, ""
	}
	if !p.isOneOf(m.NRq, "01") || !p.isOneOf(m.NT, "01234567") || !p.isOneOf(m.LRq, "01") || !p.isOneOf(m.DD, "01") ||
		!p.isOneOf(m.MCLs, "0123") || !p.isOneOf(m.RPI, "012") {
		return ecSyntax, ""
	}
	if m.RPID.n > 0 && (m.RPID.n != 4 || !isDigits(p.get(m.RPID)) || digits(p.get(m.RPID)) > 255) {
		return ecSyntax, ""
	}
	if p.isOn(m.DD) && m.DDT.n == 0 || p.isOn(m.LRq) && m.LRAd.n == 0 {
		return ecSyntax, ""
	}
	return 0, ""
}

// isRecipient reports whether an address can be a recipient.
func isRecipient(adc []byte) bool { return len(adc) > 0 && len(adc) <= maxAddress && isDigits(adc) }

// hasOriginator reports whether OAdC is valid: neither a number nor a name, even a packed one, has control characters.
func (p *PDU) hasOriginator() bool {
	v, last := p.get(p.SM.OAdC), byte('~')
	if p.isAlphanumeric() {
		var room [2 * maxOAdC]byte
		if name, ok := decodeName(room[:0], v); ok {
			v, last = name, 0xFF // in UTF-8
		}
	}
	for _, c := range v {
		if c < ' ' || c > last || c == 0x7F {
			return false
		}
	}
	return true
}

// checkLegacy checks the fields that only operation 03 has.
func (p *PDU) checkLegacy() (ec uint8, text string) {
	l := &p.rare().legacy
	switch {
	case l.NPL.n > 0 && digits(p.get(l.NPL)) != 0:
		return ecGA, ""
	case l.RP.n+l.LRP.n > 0:
		return ecRepetition, ""
	case l.PR.n+l.LPR.n > 0:
		return ecPriority, ""
	case l.UR.n+l.LUR.n > 0:
		return ecUrgent, ""
	case l.RC.n+l.LRC.n > 0:
		return ecReverse, ""
	}
	return 0, ""
}

// The maximum octets of a transparent text, with its user data header.
const maxTransparent = 140

// checkText checks the text of the message.
func (p *PDU) checkText() uint8 {
	m := &p.SM
	xser := p.get(m.XSer)
	if badXSer(xser) || !isDigits(p.get(m.NB)) {
		return ecSyntax
	}
	header, _ := findXSer(xser, xserHeader)
	if len(header) >= 2 && int(nibbles[header[0]]<<4|nibbles[header[1]])+1 != len(header)/2 {
		return ecSyntax
	}
	switch {
	case p.OT == Transfer || p.isType('3'):
	case p.isType('2'):
		if !isDigits(p.get(m.Msg)) {
			return ecSyntax
		}
	case p.isType('4') && p.OT >= Submit:
		if _, found := findXSer(xser, xserDCS); !found && m.MCLs.n == 0 {
			return ecSyntax
		}
		if int(m.Msg.n)/2+len(header)/2 > maxTransparent {
			return ecTooLong
		}
	default:
		return ecMessageType
	}
	return 0
}

// recipient returns AdC, or the recipient of an operation 02 that To has selected.
func (p *PDU) recipient() []byte {
	if p.OT != MultipleCall {
		return p.get(p.SM.AdC)
	}
	return p.recipientAt(p.rare().to)
}

// recipientAt returns a recipient of an operation 02, without its legitimisation code.
func (p *PDU) recipientAt(i int) []byte {
	all := p.get(p.rare().legacy.RAds)
	for ; i > 0; i-- {
		_, all, _ = bytes.Cut(all, []byte{'/'})
	}
	one, _, _ := bytes.Cut(all, []byte{'/'})
	one, _, _ = bytes.Cut(one, []byte{','})
	return one
}

// recipients returns the number of recipients of an operation 02, and 0 for other operations.
func (p *PDU) recipients() int {
	if p.OT != MultipleCall {
		return 0
	}
	return 1 + bytes.Count(p.get(p.rare().legacy.RAds), []byte{'/'})
}

// To implements protocols.Recipients.
func (s *session) To(pdu protocols.PDU, i int) { pdu.(*PDU).rare().to = i }

// Refuse implements protocols.Recipients.
func (s *session) Refuse(pdu protocols.PDU, _ sms.Code) {
	x := pdu.(*PDU).rare()
	x.refused |= 1 << x.to
}

// isOneOf reports whether a field is empty or one of the characters.
func (p *PDU) isOneOf(f Field, characters string) bool {
	if f.n == 0 {
		return true
	}
	for i := range len(characters) {
		if f.n == 1 && p.text[f.at] == characters[i] {
			return true
		}
	}
	return false
}

// isOn reports whether a field is "1".
func (p *PDU) isOn(f Field) bool { return f.n == 1 && p.text[f.at] == '1' }
