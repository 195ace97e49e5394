package numbers

import (
	"bytes"
	"errors"
	"unicode"
	"unicode/utf8"

	"pmg/sms"
	"pmg/sms/number"
)

const (
	maxDigits = 17  // maximum digits of a number that is stored as a number; a longer one is stored as a name
	maxName   = 128 // maximum octets of an entry
	maxSender = 20  // maximum characters of a sender's name, as in SMPP
	someName  = 6   // maximum digits of a sender's name, in addition to letters
	leading   = 1   // is put before the digits of a number, because 0046 is not 46
	lengths   = 32  // a prefix is stored as its first maxDigits digits, times lengths, plus its length
	cut       = '*' // ends a prefix
)

// Errors of entries.
var (
	errNothing = errors.New("there are no digits: a '*' alone would match every number")
	errLong    = errors.New("it is longer than 20 characters")
	errLetters = errors.New("it has a letter among the digits of a number")
	errPlus    = errors.New("a '+' is allowed only in front of a number")
	errStar    = errors.New("a '*' is allowed only at the end")
	errNUL     = errors.New("it has a NUL, so the file is not text")
	errControl = errors.New("it has a control character")
	errUTF8    = errors.New("it is not UTF-8")
	errNumber  = errors.New("it is neither a number nor a name")
)

// An entry is a number, a prefix or a name in the form for comparison.
type entry struct {
	number uint64 // leading, followed by the digits; 0: the entry is a name
	lead   uint64 // the first maxDigits digits, padded with zeros
	digits int    // number of digits in lead, without padding
	name   []byte // in capitals, or the digits of a long number; empty: the entry is a number
	prefix bool
}

// digitsOf makes an entry of digits. It reports false if there are more than maxDigits digits.
func digitsOf(s []byte) (e entry, ok bool) {
	if len(s) > maxDigits {
		return entry{}, false
	}
	e.number, e.digits = leading, len(s)
	for _, c := range s {
		e.number = e.number*10 + uint64(c-'0')
	}
	e.lead = (e.number - powers[e.digits]) * powers[maxDigits-e.digits]
	return e, true
}

// entryOf makes an entry, without lead, of a number as a table and the changes have it.
func entryOf(number uint64) entry {
	e := entry{number: number}
	for number >= 2*powers[e.digits] { // leading is 1
		e.digits++
	}
	return e
}

// same reports whether two entries are equal.
func (e *entry) same(other *entry) bool {
	return e.number == other.number && e.prefix == other.prefix && (e.number != 0 || bytes.Equal(e.name, other.name))
}

// powers are the powers of ten.
var powers = [maxDigits + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
}

// numberOf makes an entry of a number, or of its digits, in room.
func numberOf(digits []byte, zero bool, room *[maxName]byte) (entry, error) {
	if len(digits) > maxSender {
		return entry{}, errLong
	}
	all := room[:0]
	if zero {
		all = append(all, '0')
	}
	all = append(all, digits...)
	e, ok := digitsOf(all)
	if !ok {
		first, _ := digitsOf(all[:maxDigits])
		e = entry{name: all, lead: first.lead, digits: first.digits}
	}
	return e, nil
}

// addressOf makes an entry of an address of a message. It reports false for an address that no list can contain.
func addressOf(n number.Number, room *[maxName]byte) (e entry, ok bool) {
	var err error
	switch n.Kind() {
	case number.None:
		return entry{}, false
	case number.Name:
		if c := n.Octets()[0]; c == '+' || c >= '0' && c <= '9' { // a number with blanks between the digits
			if typed := number.Read(string(n.Octets())); typed.Kind() != number.Name {
				return addressOf(typed, room)
			}
		}
		e, err = nameOf(n.Octets(), room)
	default:
		e, err = numberOf(n.Digits(), isBare(n), room)
	}
	return e, err == nil
}

// isBare reports whether a number is national only by its type. People write such a number with a 0 in front.
func isBare(n number.Number) bool { return n.Kind() == number.National && n.Digits()[0] != '0' }

// parse makes an entry of a line without its comment and the blanks around it.
func parse(s []byte, room *[maxName]byte) (e entry, err error) {
	prefix := len(s) > 0 && s[len(s)-1] == cut
	if prefix {
		s = s[:len(s)-1]
	}
	e, err = lineOf(s, prefix, room)
	e.prefix = prefix
	return e, err
}

// lineOf makes an entry of a line without the '*' of a prefix.
func lineOf(s []byte, prefix bool, room *[maxName]byte) (entry, error) {
	n := number.Of(sms.Address{Addr: s}) // almost all lines are numbers
	if n.Kind() == number.None {
		return entry{}, errNothing
	}
	if n.Kind() == number.Name {
		digits, wrong := number.Clean(string(s))
		if wrong != nil {
			e, err := nameOf(s, room)
			if errors.Is(err, errNumber) {
				err = wrong // the more exact error
			}
			return e, err
		}
		n = number.Of(sms.Address{Addr: []byte(digits)})
	}
	digits := n.Digits()
	if prefix && len(digits) > 2 && digits[0] == '0' && digits[1] == '0' && digits[2] != '0' {
		digits = digits[2:] // cut off the international prefix
	}
	return numberOf(digits, false, room)
}

// nameOf makes an entry of a name.
func nameOf(s []byte, room *[maxName]byte) (e entry, err error) {
	s = bytes.Trim(s, " ")
	digits, characters, letters, tab := 0, 0, false, false
	for at := 0; at < len(s); characters++ {
		c, size := utf8.DecodeRune(s[at:])
		if err := forbidden(c, size); err != nil {
			return entry{}, err
		}
		at += size
		if c >= '0' && c <= '9' {
			digits++
		}
		letters = letters || unicode.IsLetter(c)
		tab = tab || c == '\t'
	}
	switch {
	case digits == 0 && len(bytes.TrimLeft(s, " -./()\t+")) == 0:
		return entry{}, errNothing
	case s[0] == '+' && digits == 0:
		return entry{}, errPlus
	case (s[0] == '+' || digits > someName) && letters:
		return entry{}, errLetters
	case s[0] == '+' || digits > someName || !letters && digits > 0:
		return entry{}, errNumber
	case characters > maxSender:
		return entry{}, errLong
	case tab:
		return entry{}, errControl
	}
	return entry{name: number.AppendName(room[:0], s)}, nil
}

// forbidden returns the reason why a character of size octets cannot be in an entry, nil if it can.
func forbidden(c rune, size int) error {
	switch {
	case c == 0:
		return errNUL
	case c < ' ' && c != '\t' || c == 0x7f:
		return errControl
	case c == utf8.RuneError && size == 1:
		return errUTF8
	case c == cut:
		return errStar
	}
	return nil
}

// appendTo appends the entry in the form of the journal, without the '*' of a prefix.
func (e *entry) appendTo(line []byte) []byte {
	if e.number == 0 {
		return append(line, e.name...)
	}
	for i := e.digits - 1; i >= 0; i-- {
		line = append(line, '0'+byte((e.number-powers[e.digits])/powers[i]%10))
	}
	return line
}

// text describes the entry.
func (e *entry) text() string {
	what := "number "
	switch {
	case e.digits == 0 && e.prefix:
		what = "senders that begin with "
	case e.digits == 0:
		what = "sender "
	case e.prefix:
		what = "numbers that begin with "
	}
	return what + string(e.appendTo(nil))
}
