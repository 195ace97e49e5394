package ucp

import (
	"bytes"

	"pmg/sms"
	"pmg/sms/charset"
)

// The types of an originator (OTOA).
const (
	otoaInternational = "1139"
	otoaAlphanumeric  = "5039"
)

// Types of number of 3GPP TS 23.040.
const (
	tonInternational = 1
	tonAlphanumeric  = 5
	npiISDN          = 1
)

// maxName is the maximum length of an alphanumeric originator, in septets.
const maxName = 11

// isAlphanumeric reports whether the originator is a name.
func (p *PDU) isAlphanumeric() bool { return string(p.get(p.SM.OTOA)) == otoaAlphanumeric }

// decodeName appends the name in an alphanumeric originator, in UTF-8: its digits are a length in semi-octets, and septets.
// Some peers write twice the number of octets as the length; for 7 and 15 characters the last one is then empty.
func decodeName(to, digits []byte) (name []byte, ok bool) {
	if len(digits) < 2 || !isHex(digits) {
		return to, false
	}
	var room [maxOAdC / 2]byte
	b := appendUnhex(room[:0], digits[:min(len(digits), maxOAdC)])
	length := int(b[0])
	b = b[1:]
	var septets [2 * maxOAdC]byte
	s := charset.AppendUnpacked(septets[:0], b, 0, min(length, 2*len(b))*4/7)
	if n := len(s); n > 0 && n%8 == 0 && s[n-1] == 0 {
		s = s[:n-1]
	}
	to, _ = charset.Charset{}.Decode(to, s)
	return to, true
}

// appendName appends a name in UTF-8 as the digits of an alphanumeric originator. It reports false if the name is too long, or
// has a character that is not in the GSM alphabet.
func appendName(to, name []byte) ([]byte, bool) {
	var room [2 * maxName]byte
	s, loss := charset.Charset{}.Encode(room[:0], charset.FromName(name), charset.Report)
	if loss.Count > 0 || len(s) > maxName {
		return to, false
	}
	var packed [maxName]byte
	to = append(to, upper[(7*len(s)+3)/4>>4], upper[(7*len(s)+3)/4&15])
	return appendHex(to, charset.AppendPacked(packed[:0], s, 0)), true
}

// number reads an address of digits.
func (s *session) number(digits []byte) sms.Address {
	prefix := s.options.InternationalPrefix
	if rest, ok := bytes.CutPrefix(digits, []byte(prefix)); ok && prefix != "" && len(rest) > 0 {
		return sms.Address{TON: tonInternational, NPI: npiISDN, Addr: rest}
	}
	return sms.Address{Addr: digits}
}

// originator reads an OAdC. The name of an alphanumeric one is kept in p's storage.
func (s *session) originator(p *PDU) sms.Address {
	oadc := p.get(p.SM.OAdC)
	switch string(p.get(p.SM.OTOA)) {
	case otoaAlphanumeric:
		at := len(p.buf)
		if name, ok := decodeName(p.buf, oadc); ok {
			p.buf = name
			return sms.Address{TON: tonAlphanumeric, Addr: name[at:len(name):len(name)]}
		}
	case otoaInternational:
		return sms.Address{TON: tonInternational, NPI: npiISDN, Addr: oadc}
	}
	return s.number(oadc)
}

// digits returns the digits of an address, and the prefix to write before them.
func (o *ConnectorOptions) digits(a sms.Address) (prefix string, digits []byte) {
	digits = bytes.TrimPrefix(a.Addr, []byte{'+'})
	if a.TON == tonInternational || len(digits) < len(a.Addr) {
		prefix = o.InternationalPrefix
	}
	return prefix, digits
}

// fits reports whether a field has room for an address as digits.
func (o *ConnectorOptions) fits(a sms.Address) bool {
	prefix, digits := o.digits(a)
	return isDigits(digits) && len(prefix)+len(digits) <= maxAddress
}

// putNumber writes the digits of an address into a field. A number that does not fit is omitted, so that the peer refuses the
// message: half a number is another subscriber's.
func (s *session) putNumber(p *PDU, f *Field, a sms.Address) {
	if !s.options.fits(a) {
		return
	}
	prefix, digits := s.options.digits(a)
	at := len(p.buf)
	p.buf = append(append(p.buf, prefix...), digits...)
	p.end(f, at)
}

// putOriginator fills in OAdC and OTOA.
func (s *session) putOriginator(p *PDU, a sms.Address) {
	digits := bytes.TrimPrefix(a.Addr, []byte{'+'})
	switch {
	case a.TON == tonAlphanumeric || !isDigits(digits):
		at := len(p.buf)
		var ok bool
		if p.buf, ok = appendName(p.buf, a.Addr); ok {
			p.end(&p.SM.OAdC, at)
			p.put(&p.SM.OTOA, []byte(otoaAlphanumeric))
		}
	case len(digits) > maxAddress:
	case a.TON == tonInternational || len(digits) < len(a.Addr):
		p.put(&p.SM.OAdC, digits)
		p.put(&p.SM.OTOA, []byte(otoaInternational))
	default:
		p.put(&p.SM.OAdC, digits)
	}
}

// putParties fills in the addresses of a notification. A notification has no OTOA: it has the recipient as the client wrote
// it, and the digits of a name for an originator that is a name. The specification limits AdC, so that the digits of a name of
// more than eight characters do not fit; a client that has logged in with a number gets that number instead.
func (s *session) putParties(p *PDU, m *sms.Message) {
	s.putNumber(p, &p.SM.OAdC, m.Source())
	if s.putNumber(p, &p.SM.AdC, m.Dest()); p.SM.AdC.n > 0 {
		return
	}
	at := len(p.buf)
	b, ok := appendName(p.buf, m.Dest().Addr)
	switch {
	case (!ok || len(b)-at > maxAddress) && isDigits(s.client) && len(s.client) > 0:
		p.put(&p.SM.AdC, s.client)
	case ok:
		p.buf = b
		p.end(&p.SM.AdC, at)
	}
}

// decodePassword appends the password that digits encode: each pair is a character's GSM code. Many clients send ASCII codes
// instead, so a code counts as ASCII if its GSM character is not in ASCII.
func decodePassword(to, digits []byte) []byte {
	var room [maxPasswordField / 2]byte
	b := appendUnhex(room[:0], digits)
	for i := 0; i < len(b); i++ {
		n := 1
		if b[i] == gsmEscape && i+1 < len(b) {
			n = 2
		}
		var c [2]byte
		one, whole := appendLatin1(c[:0], b[i:i+n])
		if whole && len(one) == 1 && one[0] < 0x80 {
			to = append(to, one[0])
			i += n - 1
		} else {
			to = append(to, b[i])
		}
	}
	return to
}

// appendPassword appends a password as digits.
func appendPassword(to []byte, password string) []byte {
	var room [maxPasswordField]byte
	b, ok := appendGSM(room[:0], []byte(password))
	if !ok {
		b = []byte(password) // unchanged: options were checked, so the running configuration has only such passwords
	}
	return appendHex(to, b)
}
