package httpsms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/number"
)

// An Order is a message to one recipient, as a request asks for it.
type Order struct {
	From, To  string       // addresses as the client wrote them: digits, with '+' in front or without, or an alphanumeric sender
	Header    []byte       // user data header with its length octet (3GPP TS 23.040 §9.2.3.24), or nil
	Text      []byte       // text in Alphabet, without the header
	Alphabet  sms.Alphabet // alphabet of Text
	Class     sms.Class
	PID       uint8
	Priority  uint8 // 0 lowest, at most 4
	ReplyPath bool
	DeliverAt int64 // Unix nanoseconds; 0: immediately
	Expires   int64 // Unix nanoseconds; 0: not set
	Notify    sms.Notify
	MaxParts  int // limit of short messages for the text; 0: the limit of the account
	Context   Context
}

// The longest addresses (3GPP TS 23.040 §9.1.2.5 allows 20 semi-octets; private plans have a few more).
const (
	maxDigits = 20
	maxAlpha  = 11
)

// Fill makes m the message of the order, with the wall clock's times.
func (o *Order) Fill(m *sms.Message) sms.Code {
	source, ok := address(o.From, true)
	if !ok {
		return sms.BadSource
	}
	dest, ok := address(o.To, false)
	if !ok {
		return sms.BadDestination
	}
	text := o.Text
	if len(o.Header) > 0 {
		if int(o.Header[0])+1 != len(o.Header) {
			return sms.BadParameter
		}
		text = append(append(make([]byte, 0, len(o.Header)+len(o.Text)), o.Header...), o.Text...)
		m.Flags |= sms.HasHeader
	}
	if len(text) > maxText {
		return sms.BadLength
	}
	if o.ReplyPath {
		m.Flags |= sms.ReplyPath
	}
	m.Kind = sms.Submit
	m.Alphabet, m.Class, m.PID, m.Priority = o.Alphabet, o.Class, o.PID, min(o.Priority, maxPriority)
	m.DeliverAt, m.Expires, m.Notify = o.DeliverAt, o.Expires, o.Notify
	m.Set(source, dest, text)
	m.SetNative(protocols.HTTP, o.Context.Append(nil))
	return sms.OK
}

const (
	maxPriority = 4
	maxText     = 64 << 10
)

// address reads an address. A sender may be empty, which leaves it to rules, or alphanumeric, without control characters: an
// SMSC would read none of what follows a zero. No international recipient begins with 0 (E.164).
func address(text string, sender bool) (a sms.Address, ok bool) {
	text = number.Trim(text)
	digits := text
	if len(text) > 0 && text[0] == '+' {
		digits, a.TON = text[1:], tonInternational
		if !sender && strings.HasPrefix(digits, "0") {
			return a, false
		}
	}
	if isDigits(digits) && len(digits) <= maxDigits {
		a.NPI, a.Addr = npiTelephone, []byte(digits)
		return a, true
	}
	if !sender || a.TON != 0 || !isName(text) {
		return a, text == "" && sender
	}
	if text != "" {
		a.TON, a.Addr = tonAlphanumeric, []byte(text)
	}
	return a, true
}

// isName reports whether a text is at most as long as a name may be, and has no control characters.
func isName(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxAlpha && !strings.ContainsFunc(text, unicode.IsControl)
}

// Types of number and numbering plans (3GPP TS 23.040 §9.1.2.5).
const (
	tonInternational = 1
	tonAlphanumeric  = 5
	npiTelephone     = 1
)

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// Number returns an address as clients of this protocol write it: with '+' in front if it is international.
func Number(a sms.Address) string {
	if a.TON == tonInternational {
		return "+" + string(a.Addr)
	}
	return string(a.Addr)
}
