package numbers

import "errors"

const (
	maxDigits = 17  // of a number that is kept as one; a longer one is kept as a name
	maxName   = 64  // octets of an entry without its separators
	maxSender = 20  // characters of a sender's name: SMPP has no more
	someName  = 6   // digits that a sender's name has at most, beside its letters
	leading   = 1   // before the digits of a number, because 0046 is not 46
	lengths   = 32  // a prefix is kept as its first maxDigits digits, times this, plus its length
	cut       = '*' // ends a prefix
)

// The ways in which an entry is wrong.
var (
	errNothing = errors.New("there is no number before the '*': that would be every number")
	errLong    = errors.New("it is longer than 20 characters")
	errLetters = errors.New("it has a letter among the digits of a number")
	errPlus    = errors.New("it has a '+' that is not in front of a number")
	errStar    = errors.New("it has a '*' that is not at its end")
	errNUL     = errors.New("it has a NUL, so the file is not text")
	errControl = errors.New("it has a control character")
	errASCII   = errors.New("it has a character that is not ASCII: a sender's name has letters, digits and marks of ASCII")
)

// An entry is a number, a prefix or a name in the form in which it is compared.
type entry struct {
	number uint64 // leading and its digits; 0: the entry is a name
	lead   uint64 // its first maxDigits digits, filled up with zeros
	digits int    // how many of those it has
	name   []byte // in capitals, or the digits of a long number; empty: the entry is a number
	prefix bool
}

// isSeparator reports whether a character makes no difference to a number.
func isSeparator(c byte) bool {
	switch c {
	case ' ', '-', '.', '/', '(', ')', '\t':
		return true
	}
	return false
}

// digitsOf reads a number of at most maxDigits digits. It reports whether s is one.
func digitsOf(s []byte) (e entry, ok bool) {
	number := uint64(leading)
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			if e.digits == maxDigits {
				return entry{}, false
			}
			number = number*10 + uint64(c-'0')
			e.digits++
		case c == '+' && i == 0, isSeparator(c):
		default:
			return entry{}, false
		}
	}
	if e.digits == 0 {
		return entry{}, false
	}
	e.number = number
	e.lead = (number - powers[e.digits]) * powers[maxDigits-e.digits]
	return e, true
}

// powers are those of ten.
var powers = [maxDigits + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
}

// addressOf makes an entry of an address of a message. It reports false for one that no list can have.
func addressOf(s []byte, room *[maxName]byte) (entry, bool) {
	if e, ok := digitsOf(s); ok {
		return e, true
	}
	e, err := nameOf(s, room)
	return e, err == nil
}

// parse makes an entry of a line without its comment and the blanks around it.
func parse(s []byte, room *[maxName]byte) (e entry, err error) {
	prefix := len(s) > 0 && s[len(s)-1] == cut
	if prefix {
		s = s[:len(s)-1]
	}
	e, ok := digitsOf(s)
	if !ok {
		if e, err = nameOf(s, room); err != nil {
			return entry{}, err
		}
	}
	e.prefix = prefix
	return e, nil
}

// nameOf makes an entry of a name, or of a number of more than maxDigits digits.
func nameOf(s []byte, room *[maxName]byte) (e entry, err error) {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	numeric, tab, digits, n := true, false, 0, 0
	for i, c := range s {
		if err := forbidden(c); err != nil {
			return entry{}, err
		}
		if n == maxName {
			return entry{}, errLong
		}
		switch {
		case c >= '0' && c <= '9':
			digits++
		case !isSeparator(c) && (c != '+' || i > 0):
			numeric = false
		}
		tab = tab || c == '\t'
		room[n] = capital(c)
		n++
	}
	switch {
	case n == 0 || numeric && digits == 0:
		return entry{}, errNothing
	case numeric:
		return longNumber(room, n)
	case s[0] == '+' && digits == 0:
		return entry{}, errPlus
	case s[0] == '+' || digits > someName:
		return entry{}, errLetters
	case n > maxSender:
		return entry{}, errLong
	case tab:
		return entry{}, errControl
	}
	return entry{name: room[:n]}, nil
}

// longNumber removes the separators of a number.
func longNumber(room *[maxName]byte, n int) (e entry, err error) {
	digits := room[:0]
	for _, c := range room[:n] {
		if c >= '0' && c <= '9' {
			digits = append(digits, c)
		}
	}
	if len(digits) > maxSender {
		return entry{}, errLong
	}
	first, _ := digitsOf(digits[:min(len(digits), maxDigits)])
	return entry{name: digits, lead: first.lead, digits: first.digits}, nil
}

// forbidden returns why a character cannot be in an entry.
func forbidden(c byte) error {
	switch {
	case c == 0:
		return errNUL
	case c < ' ' && c != '\t' || c == 0x7f:
		return errControl
	case c > 0x7f:
		return errASCII
	case c == cut:
		return errStar
	}
	return nil
}

func capital(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// appendTo appends the entry as its line of the journal has it.
func (e *entry) appendTo(line []byte) []byte {
	if e.number == 0 {
		return append(line, e.name...)
	}
	for i := e.digits - 1; i >= 0; i-- {
		line = append(line, '0'+byte((e.number-powers[e.digits])/powers[i]%10))
	}
	return line
}
