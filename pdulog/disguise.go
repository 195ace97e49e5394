package pdulog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"pmg/internal/logtext"
	"pmg/internal/smstext"
	"pmg/protocols"
)

// AppendDisguised appends the PDU of a line in the form of Entry.PDU, with a text of the same length whose letters and digits are
// replaced (smstext.Mask), and zeros in place of other octets that people who may not see texts do not see. Lengths, headers and
// all other fields stay. Errors have no texts either.
func (d *Decoder) AppendDisguised(b []byte, e *Entry) ([]byte, error) {
	p, err := d.parse(e)
	switch {
	case errors.Is(err, protocols.ErrHidden):
		return b, unmasked(e, protocols.ErrHidden)
	case err != nil:
		return b, unmasked(e, errUnreadable)
	}
	t, _ := p.Text()
	text := smstext.Mask(t.Alphabet, t.Header, t.Octets)
	d.line = p.AppendLog(d.line[:0], false)
	masked := d.line
	for rest, n := e.PDU, 0; len(rest) > 0; n++ {
		var field []byte
		if field, rest = logtext.NextField(rest); n > 0 {
			b = append(b, ' ')
		}
		if string(field) == "malformed" {
			return b, unmasked(e, protocols.ErrHidden)
		}
		name, value, hasValue := bytes.Cut(field, []byte{'='})
		var isHidden bool
		if isHidden, masked = hides(name, masked); !hasValue || !isHidden {
			b = append(b, field...)
			continue
		}
		b = append(append(b, name...), '=')
		b = appendDisguisedValue(b, value, string(name) == t.Field, text)
	}
	return b, nil
}

// errUnreadable stands for errors that show parts of a line.
var errUnreadable = errors.New("it cannot be read")

// unmasked returns the error that the text of a line cannot be masked. It shows the line up to its command.
func unmasked(e *Entry, reason error) error {
	head := append(slices.Clone(beforePDU(e.Line)), e.Command...)
	return fmt.Errorf("pdu log line %q: its text cannot be masked: %w", head, reason)
}

// hides reports whether the next field of a name shows only its length, and returns the fields behind it.
func hides(name, masked []byte) (_ bool, behind []byte) {
	for rest := masked; len(rest) > 0; {
		var field []byte
		field, rest = logtext.NextField(rest)
		if key, value, ok := bytes.Cut(field, []byte{'='}); ok && bytes.Equal(key, name) {
			return bytes.IndexByte(value, '*') >= 0 && value[0] != '"', rest
		}
	}
	return false, masked
}

// appendDisguisedValue appends what stands for a value: the text if it is that, and zeros otherwise, in the form of the value.
func appendDisguisedValue(b, value []byte, isText bool, text []byte) []byte {
	octets := unquoted(value)
	switch {
	case !isText || len(octets) == 0 || len(text) != len(octets):
		text = make([]byte, len(octets))
	case value[0] != '"':
		return logtext.AppendValue(b, text)
	}
	if len(value) > 0 && value[0] == '"' {
		return logtext.AppendQuoted(b, text)
	}
	return append(b, bytes.Repeat([]byte{'0'}, len(value))...) // octets in hexadecimal digits
}

// AppendNumbered appends the PDU of a line, in the form of Entry.PDU, under another sequence number.
func AppendNumbered(b, pdu []byte, sequence uint32) []byte {
	for rest, n := pdu, 0; len(rest) > 0; n++ {
		var field []byte
		if field, rest = logtext.NextField(rest); n > 0 {
			b = append(b, ' ')
		}
		if n == 1 && bytes.HasPrefix(field, []byte("seq=")) {
			b = strconv.AppendUint(append(b, "seq="...), uint64(sequence), 10)
			continue
		}
		b = append(b, field...)
	}
	return b
}
