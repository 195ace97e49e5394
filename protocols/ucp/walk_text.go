package ucp

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"pmg/internal/logtext"
)

// The textual modes of Walk. A field is printed as " name=value", in the form of package logtext, and omitted if it is empty.
// Scanning reads fields in the same order, and empties those that are missing.

func (w *Walk) textStr(name string, f *Field) {
	switch w.mode {
	case show:
		w.b = logtext.AppendValue(logtext.AppendName(w.b, name), w.p.get(*f))
	case scan:
		*f = Field{}
		if w.line.Take(name) {
			*f = w.keep(name, w.line.Value())
		}
	case visit:
		w.call(name, string(w.p.get(*f)))
	}
}

// textMsg prints octets in quotes. If they are not text, or write would use other digits for them, it prints the characters on
// the wire.
func (w *Walk) textMsg(name string, isHex bool, f *Field, octetsName string) {
	switch w.mode {
	case show:
		if f.n > 0 {
			w.showMsg(name, isHex, w.p.get(*f), octetsName)
		}
	case scan:
		*f = Field{}
		if w.line.Take(octetsName) {
			*f = w.scanOctets(octetsName)
		} else if raw := rawName(name, octetsName); w.line.Take(raw) {
			*f = w.keep(raw, w.line.Value())
		}
	case visit:
		w.call(name, string(w.p.get(*f)))
	}
}

func (w *Walk) showMsg(name string, isHex bool, v []byte, octetsName string) {
	quoted := isHex && isUpperHex(v)
	if quoted {
		w.b = logtext.AppendName(w.b, octetsName)
	} else {
		w.b = logtext.AppendName(w.b, rawName(name, octetsName))
	}
	var room [maxShown]byte
	switch {
	case !w.full && quoted:
		w.b = logtext.AppendHidden(w.b, len(v)/2)
	case !w.full:
		w.b = logtext.AppendHidden(w.b, len(v))
	case quoted:
		w.b = logtext.AppendQuoted(w.b, appendUnhex(room[:0], v))
	default:
		w.b = logtext.AppendValue(w.b, v)
	}
}

// rawName returns the name of a text whose characters on the wire are shown.
func rawName(name, octetsName string) string {
	if name == octetsName {
		return transferRaw
	}
	return name
}

// transferRaw is the name of a text of operation 30 whose characters on the wire are shown.
const transferRaw = "AMsg_raw"

// maxShown is the maximum length of a text that is printed without an allocation.
const maxShown = 320

// scanOctets reads the octets of a text in hexadecimal digits.
func (w *Walk) scanOctets(name string) Field {
	v := w.line.Value()
	p := w.p
	at := len(p.buf)
	p.buf = appendHex(p.buf, v)
	p.text = p.buf
	return w.field(name, at)
}

// textList prints a list as fields with the same name. A legitimisation code, which follows a comma, is hidden with its field.
func (w *Walk) textList(name string, f *Field) {
	switch w.mode {
	case write:
		w.b = append(append(w.b, w.p.get(*f)...), '/')
	case show:
		for one := range bytes.SplitSeq(w.p.get(*f), slash) {
			w.b = logtext.AppendName(w.b, name)
			if bytes.IndexByte(one, ',') >= 0 {
				w.b = logtext.AppendPassword(w.b)
			} else {
				w.b = logtext.AppendValue(w.b, one)
			}
		}
	case scan:
		w.scanList(name, f)
	case visit:
		w.call(name, strings.Split(string(w.p.get(*f)), "/"))
	}
}

func (w *Walk) scanList(name string, f *Field) {
	p := w.p
	at := len(p.buf)
	for n := 0; w.line.Take(name); n++ {
		if n > 0 {
			p.buf = append(p.buf, '/')
		}
		w.keep(name, w.line.Value())
	}
	p.text = p.buf
	*f = w.field(name, at)
}

// keep stores a value in the PDU's own text.
func (w *Walk) keep(name string, v []byte) Field {
	p := w.p
	if bytes.ContainsAny(v, "/\x02\x03") {
		w.line.Fail(name, "has a character that cannot stand in a field")
		return Field{}
	}
	at := len(p.buf)
	p.buf = append(p.buf, v...)
	p.text = p.buf
	return w.field(name, at)
}

// field returns the field from an index of the PDU's own text to its end.
func (w *Walk) field(name string, at int) Field {
	if len(w.p.buf) > maxFrame {
		w.line.Fail(name, "makes the frame too long")
		return Field{}
	}
	return Field{uint16(at), uint16(len(w.p.buf) - at)}
}

// upper are the hexadecimal digits as they are sent.
const upper = "0123456789ABCDEF"

// appendHex appends octets as upper-case digits.
func appendHex(b, v []byte) []byte {
	at := len(b)
	b = slices.Grow(b, 2*len(v))[:at+2*len(v)]
	to := b[at:]
	for i, c := range v {
		to[2*i], to[2*i+1] = upper[c>>4], upper[c&15]
	}
	return b
}

// nibbles has the value of each hexadecimal digit, of either case, and noNibble for
// every other character.
var nibbles = func() (n [256]uint8) {
	for c := range n {
		n[c] = noNibble
		if d, err := hex.DecodeString("0" + string(rune(c))); err == nil && c < 0x80 {
			n[c] = d[0]
		}
	}
	return n
}()

const noNibble = 0xFF

// appendUnhex appends the octets of pairs of digits. It stops at other characters.
func appendUnhex(b, digits []byte) []byte {
	at, n := len(b), len(digits)/2
	b = slices.Grow(b, n)[:at+n]
	to := b[at:]
	for i := range to {
		high, low := nibbles[digits[2*i]], nibbles[digits[2*i+1]]
		if high|low == noNibble {
			return b[:at+i]
		}
		to[i] = high<<4 | low
	}
	return b
}

// isHex reports whether v consists of pairs of hexadecimal digits.
func isHex(v []byte) bool {
	for _, c := range v {
		if nibbles[c] == noNibble {
			return false
		}
	}
	return len(v)%2 == 0
}

// isUpperHex reports whether appendHex could have written v.
func isUpperHex(v []byte) bool {
	for _, c := range v {
		if nibbles[c] == noNibble || c >= 'a' {
			return false
		}
	}
	return len(v)%2 == 0
}

// isDigits reports whether v consists of decimal digits.
func isDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
