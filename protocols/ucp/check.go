package ucp

// check returns the error code to refuse a message of that side with, and a text that
// says more, or 0. Messages that come from an SMSC have been on their way already, so
// they are refused only if their text cannot be found.
func (p *PDU) check(by side) (ec uint8, text string) {
	m := &p.SM
	if p.isHex() && !isHex(p.get(m.Msg)) || !isXSer(p.get(m.XSer)) {
		return ecSyntax, ""
	}
	if by == smsc {
		return 0, ""
	}
	if p.OT == MultipleCall || p.OT == Supplementary {
		if ec, text := p.checkLegacy(); ec != 0 {
			return ec, text
		}
	}
	if adc := p.recipient(); len(adc) == 0 || !isDigits(adc) {
		return ecAdC, ""
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

// checkLegacy is check for what only operations 02 and 03 have.
func (p *PDU) checkLegacy() (ec uint8, text string) {
	l := &p.rare().legacy
	if p.OT == MultipleCall {
		if digits(p.get(l.NPL)) > 1 {
			return ecNotAllowed, textTooMany
		}
		return 0, ""
	}
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

// The most octets of a transparent text, with its user data header.
const maxTransparent = 140

// checkText is check for the text of the message.
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

// recipient returns AdC, which has another place in an operation 02.
func (p *PDU) recipient() []byte {
	if p.OT != MultipleCall {
		return p.get(p.SM.AdC)
	}
	one := p.get(p.rare().legacy.RAds)
	for i, c := range one {
		if c == ',' || c == '/' {
			return one[:i]
		}
	}
	return one
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

// isOn reports whether a switch is on.
func (p *PDU) isOn(f Field) bool { return f.n == 1 && p.text[f.at] == '1' }
