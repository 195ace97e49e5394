package pdulog

import (
	"bytes"
	"errors"

	"pmg/internal/logtext"
	"pmg/protocols"
)

// AppendMasked appends the line for people who may not see texts: texts and octets of unknown meaning are
// replaced by their lengths. If the PDU of the line cannot be read, it appends only the command, because any
// field may be a text.
func (d *Decoder) AppendMasked(b []byte, e *Entry) []byte {
	before := beforePDU(e.Line)
	b = append(b, before...)
	p, err := d.parse(e)
	if err != nil && !errors.Is(err, protocols.ErrHidden) {
		return append(append(b, e.Command...), " (cannot be read)"...)
	}
	d.buf = p.AppendLog(d.buf[:0], false)
	masked := d.buf
	for rest, n := e.PDU, 0; len(rest) > 0; n++ {
		var field []byte
		if field, rest = logtext.NextField(rest); n > 0 {
			b = append(b, ' ')
		}
		b, masked = appendMasked(b, field, masked)
	}
	return append(b, e.Line[len(before)+len(e.PDU):]...)
}

// appendMasked appends a field of a line in the form that it has among the fields masked, and returns the
// fields after it. A value that is hidden in the line stays unchanged, because only the line has its length.
func appendMasked(b, field, masked []byte) (_, behind []byte) {
	name, value, hasValue := bytes.Cut(field, []byte{'='})
	star := bytes.IndexByte(value, '*')
	if string(value) == `""` {
		return append(b, field...), masked
	}
	if star >= 0 && value[0] != '"' {
		return append(append(append(b, name...), '='), value[star:]...), masked
	}
	for rest := masked; len(rest) > 0; {
		var there []byte
		there, rest = logtext.NextField(rest)
		if key, _, ok := bytes.Cut(there, []byte{'='}); ok == hasValue && bytes.Equal(key, name) {
			return append(b, there...), rest
		}
	}
	if !hasValue { // the text may be a part of any field
		return append(b, '*'), masked
	}
	return append(append(b, name...), "=*"...), masked
}
