package logtext

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A Scanner splits a line into fields. After the first error the rest of the line is
// empty.
type Scanner struct {
	// Hidden reports whether the line does not contain all octets of a value that was
	// scanned. The value was returned empty, or without the missing octets.
	Hidden bool

	rest []byte
	buf  []byte // values that the line does not contain unescaped
	err  error
}

// NewScanner returns a scanner of a line. Values that cannot point into the line are
// appended to buf.
func NewScanner(line, buf []byte) Scanner { return Scanner{rest: line, buf: buf} }

// Own returns the buffer that was passed to NewScanner, with the values appended.
func (s *Scanner) Own() []byte { return s.buf }

// Err returns the first error.
func (s *Scanner) Err() error { return s.err }

// Fail ends scanning with an error: text is the part of the line that cannot be read.
func (s *Scanner) Fail(text, reason string) {
	if s.err == nil {
		s.err = fmt.Errorf("%q %s", text, reason)
	}
	s.rest = nil
}

// More reports whether another field follows.
func (s *Scanner) More() bool {
	s.rest = bytes.TrimLeft(s.rest, " ")
	return len(s.rest) > 0
}

// End fails if another field follows.
func (s *Scanner) End() {
	if s.More() {
		s.Fail(string(s.rest), "is not a field of this PDU")
	}
}

// Sees reports whether the next field has the name.
func (s *Scanner) Sees(name string) bool {
	n := len(name)
	return s.More() && len(s.rest) > n && s.rest[n] == '=' && string(s.rest[:n]) == name
}

// Take skips "name=" if that is next, and reports whether it was.
func (s *Scanner) Take(name string) bool {
	if !s.Sees(name) {
		return false
	}
	s.rest = s.rest[len(name)+1:]
	return true
}

// TakeWord skips a word without a value if that is next, and reports whether it was.
func (s *Scanner) TakeWord(word string) bool {
	if !s.More() || !bytes.HasPrefix(s.rest, []byte(word)) || len(s.rest) > len(word) && s.rest[len(word)] != ' ' {
		return false
	}
	s.rest = s.rest[len(word):]
	return true
}

// Name skips the next "name=" and returns the name, or nil at the end.
func (s *Scanner) Name() []byte {
	if !s.More() {
		return nil
	}
	name, rest, ok := bytes.Cut(s.rest, []byte{'='})
	if !ok {
		s.Fail(string(s.rest), "is not a field")
		return nil
	}
	s.rest = rest
	return name
}

// Word returns the text before the next space.
func (s *Scanner) Word() []byte {
	n := bytes.IndexByte(s.rest, ' ')
	if n < 0 {
		n = len(s.rest)
	}
	t := s.rest[:n:n]
	s.rest = s.rest[n:]
	return t
}

// Number returns a number of the given bits, decimal or 0x; a name in brackets may follow
// it. A hidden number is 0.
func (s *Scanner) Number(bits int) uint64 {
	t, _, _ := strings.Cut(string(s.Word()), "(")
	if t == "*" {
		s.Hidden = true
		return 0
	}
	n, err := parseNumber(t, bits)
	if err != nil {
		s.Fail(t, "is not a number of "+strconv.Itoa(bits)+" bits")
	}
	return n
}

// ParseNumber parses a number of 32 bits, decimal or 0x. A leading 0 does not make it
// octal, because UCP writes 02.
func ParseNumber(t string) (uint32, error) {
	n, err := parseNumber(t, 32)
	return uint32(n), err
}

func parseNumber(t string, bits int) (uint64, error) {
	if digits, ok := strings.CutPrefix(t, "0x"); ok {
		return strconv.ParseUint(digits, 16, bits)
	}
	return strconv.ParseUint(t, 10, bits)
}

// Octets returns octets written in hex, without those that are hidden.
func (s *Scanner) Octets() []byte {
	t := s.Word()
	shown, hidden, cut := bytes.Cut(t, []byte{'*'})
	b, err := hex.AppendDecode(nil, shown)
	if err != nil {
		s.Fail(string(t), "is not hex")
	}
	if cut {
		s.hidden(hidden)
	}
	return b
}

// hidden records a hidden value; t is the text after the first star.
func (s *Scanner) hidden(t []byte) {
	s.Hidden = true
	if string(t) == "**" {
		return // a password
	}
	if _, err := strconv.ParseUint(string(t), 10, 32); err != nil {
		s.Fail("*"+string(t), "is not the length of a hidden value")
	}
}

// Value returns a string. A bare one points into the line. A hidden one is nil.
func (s *Scanner) Value() []byte {
	if len(s.rest) > 0 && s.rest[0] != '"' {
		t := s.Word()
		if len(t) > 0 && t[0] == '*' {
			s.hidden(t[1:])
			return nil
		}
		return t
	}
	at := len(s.buf)
	s.buf = s.AppendValue(s.buf)
	return s.buf[at:len(s.buf):len(s.buf)]
}

// AppendValue reads a string and appends it to b. It appends nothing for a hidden one.
func (s *Scanner) AppendValue(b []byte) []byte {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		t := s.Word()
		if len(t) > 0 && t[0] == '*' {
			s.hidden(t[1:])
			return b
		}
		return append(b, t...)
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			return b
		case c != '\\':
			b = append(b, c)
		case i+3 < len(s.rest) && s.rest[i+1] == 'x':
			var err error
			if b, err = hex.AppendDecode(b, s.rest[i+2:i+4]); err != nil {
				s.Fail(string(s.rest[i:i+4]), "is not an octet")
				return b
			}
			i += 3
		case i+1 < len(s.rest) && (s.rest[i+1] == '"' || s.rest[i+1] == '\\'):
			b = append(b, s.rest[i+1])
			i++
		default:
			s.Fail(string(s.rest[i:]), "is not an escape")
			return b
		}
	}
	s.Fail(string(s.rest), "has no closing quote")
	return b
}

// NextField cuts the first field off rest. A space between quotes ends no field.
func NextField(rest []byte) (field, after []byte) {
	quoted := false
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case ' ':
			if !quoted {
				return rest[:i], rest[i+1:]
			}
		}
	}
	return rest, nil
}
