package pdulog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"

	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms/charset"
)

// A Subject is a person whose traces are removed from lines.
type Subject interface {
	// IsNumber reports whether an address is that of the subject. national means that the address lacks the country code.
	IsNumber(address []byte, national bool) bool
	// IsIn reports whether octets contain the number, and not as a part of another number.
	IsIn(octets []byte) bool
}

// A Redaction selects what is removed from lines.
type Redaction struct {
	Of      Subject // subject whose numbers are removed, and texts of messages from, to or about the subject; nil: no subject
	Texts   bool    // redact all texts
	Numbers bool    // redact all numbers of mobiles
}

// hides reports whether the value of a field is hidden.
func (r *Redaction) hides(field, name, value []byte, national bool) bool {
	if len(value) == 0 || value[0] == '*' || isOurs(name) {
		return false
	}
	value = unquoted(value)
	if kind, n := kindOf(field); r.Numbers && (kind == numberKey && n == len(name)+1 || string(name) == "SM") &&
		IsMobile(value) {
		return true
	}
	if r.Of == nil {
		return false
	}
	if r.Of.IsNumber(value, national) || r.Of.IsIn(value) {
		return true
	}
	if bytes.IndexByte(value, '%') >= 0 { // of a query
		if text, err := url.QueryUnescape(string(value)); err == nil && r.Of.IsIn([]byte(text)) {
			return true
		}
	}
	octets, err := hex.DecodeString(string(value))
	return err == nil && len(octets) > 0 && (r.Of.IsIn(octets) || isPackedIn(octets, r.Of) || isPackedIn(octets[1:], r.Of))
}

// isPackedIn reports whether the subject occurs in octets that hold packed septets, such as an OAdC of UCP behind
// the octet with the length.
func isPackedIn(octets []byte, of Subject) bool {
	return of.IsIn(charset.AppendUnpacked(nil, octets, 0, 8*len(octets)/7))
}

// unquoted returns the octets of a value, which may be written in quotes with escapes.
func unquoted(value []byte) []byte {
	if len(value) > 0 && value[0] == '"' {
		if s, err := strconv.Unquote(string(value)); err == nil {
			return []byte(s)
		}
	}
	return unescaped(trimQuotes(value))
}

// unescaped returns octets in which escapes such as \x00 are replaced by the octets that they stand for.
func unescaped(text []byte) []byte {
	var b []byte
	for {
		before, after, ok := bytes.Cut(text, []byte(`\x`))
		if !ok {
			if b == nil {
				return text
			}
			return append(b, text...)
		}
		b = append(b, before...)
		text = after
		if len(after) >= 2 {
			if octet, err := hex.DecodeString(string(after[:2])); err == nil {
				b, text = append(b, octet...), after[2:]
			}
		}
	}
}

// isOurs reports whether a field has nothing that a peer has written about a person.
func isOurs(name []byte) bool { return string(name) == "seq" || string(name) == "id" }

// leastDigits is the least number of digits of a person's number; a shorter number belongs to a service.
const leastDigits = 7

// IsMobile reports whether an address may be the number of a person, and is not the name or the short number of a service.
func IsMobile(address []byte) bool {
	digits := 0
	for _, c := range address {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != '+' && c != ':': // the second is in the ids of UCP, behind the number
			return false
		}
	}
	return digits >= leastDigits
}

// AppendRedacted appends a line without the values that are to be removed, and reports whether the line has
// changed. Values are replaced by their lengths. All octets of an unreadable line are replaced if they may
// contain such a value.
func (d *Decoder) AppendRedacted(b, line []byte, r *Redaction) (_ []byte, changed bool) {
	at := len(b)
	e, err := Parse(line)
	switch {
	case err == nil:
		b = d.appendRedacted(b, &e, r)
	case r.Texts || r.Numbers || r.Of != nil && (r.Of.IsIn(line) || r.Of.IsIn(unescaped(line))):
		if len(line) > 0 && line[0] != '*' {
			b = logtext.AppendHidden(b, len(line))
			break
		}
		fallthrough
	default:
		b = append(b, line...)
	}
	return b, !bytes.Equal(b[at:], line)
}

func (d *Decoder) appendRedacted(b []byte, e *Entry, r *Redaction) []byte {
	line := e.Line
	hides := r.Texts || r.Of != nil && (r.anyHidden(e.Rest) || d.names(e, r.Of))
	if hides {
		d.line = d.appendHidden(d.line[:0], e)
		line = d.line
	}
	before := len(beforePDU(line))
	b = append(b, line[:before]...)
	pdu, _ := logtext.CutAbout(line[before:])
	b, rest := r.append(b, pdu), line[before+len(pdu):]
	if hides && bytes.HasPrefix(rest, []byte(logtext.TextHash)) {
		rest = rest[len(logtext.TextHash)+logtext.TextHashLen:]
	}
	return append(b, rest...)
}

// appendHidden appends a line without texts. If its PDU cannot be read, strings in quotes are removed,
// because any of them may be a text.
func (d *Decoder) appendHidden(b []byte, e *Entry) []byte {
	if _, err := d.parse(e); err == nil || errors.Is(err, protocols.ErrHidden) {
		return d.AppendMasked(b, e)
	}
	before := beforePDU(e.Line)
	b = append(b, before...)
	for rest, n := e.PDU, 0; len(rest) > 0; n++ {
		var field []byte
		if field, rest = logtext.NextField(rest); n > 0 {
			b = append(b, ' ')
		}
		name, value, ok := bytes.Cut(field, []byte{'='})
		if ok && len(value) > 0 && value[0] == '"' {
			b = logtext.AppendHidden(append(append(b, name...), '='), unquotedLen(value))
			continue
		}
		b = append(b, field...)
	}
	return append(b, e.Line[len(before)+len(e.PDU):]...)
}

// unquotedLen returns how many octets a value has.
func unquotedLen(value []byte) int {
	if s, err := strconv.Unquote(string(value)); err == nil {
		return len(s)
	}
	return len(value)
}

// anyHidden reports whether a field is hidden.
func (r *Redaction) anyHidden(fields []byte) (any bool) {
	r.each(fields, func(_, _ []byte, hidden bool) { any = any || hidden })
	return any
}

// names reports whether the text of a line has the number.
func (d *Decoder) names(e *Entry, of Subject) bool {
	text, ok := d.Text(e)
	return ok && of.IsIn([]byte(text))
}

// append appends a command and its fields, without the values that are hidden.
func (r *Redaction) append(b, pdu []byte) []byte {
	command, fields, ok := bytes.Cut(pdu, []byte{' '})
	if b = append(b, command...); !ok {
		return b
	}
	r.each(fields, func(field, value []byte, hidden bool) {
		b = append(b, ' ')
		if hidden {
			b = logtext.AppendHidden(append(b, field[:len(field)-len(value)]...), unquotedLen(value))
		} else {
			b = append(b, field...)
		}
	})
	return b
}

// each calls f for each field, with its value and whether the value is hidden.
func (r *Redaction) each(fields []byte, f func(field, value []byte, hidden bool)) {
	national := false
	for rest := fields; len(rest) > 0; {
		var field []byte
		field, rest = logtext.NextField(rest)
		name, value, ok := bytes.Cut(field, []byte{'='})
		if !ok {
			f(field, nil, false)
			continue
		}
		f(field, value, r.hides(field, name, value, national))
		isType, isPlan := bytes.HasSuffix(name, []byte("_ton")), bytes.HasSuffix(name, []byte("_npi"))
		national = isType && string(value) == nationalType || isPlan && national
	}
}

// nationalType is the type of number of addresses without a country code (SMPP 3.4 §5.2.5).
const nationalType = "2"
