package smpp

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// This file is how a scanning Walk takes apart what is left of a line.

// spaces skips to the next field.
func (w *Walk) spaces() { w.b = bytes.TrimLeft(w.b, " ") }

// sees tells whether the next field is the one of that name.
func (w *Walk) sees(name string) bool {
	w.spaces()
	n := len(name)
	return len(w.b) > n && w.b[n] == '=' && string(w.b[:n]) == name
}

// take goes past "name=" if that is what comes next.
func (w *Walk) take(name string) bool {
	if !w.sees(name) {
		return false
	}
	w.b = w.b[len(name)+1:]
	return true
}

// key goes past the next "name=", whatever its name is; nil at the end.
func (w *Walk) key() []byte {
	w.spaces()
	if len(w.b) == 0 {
		return nil
	}
	n := bytes.IndexByte(w.b, '=')
	if n < 0 {
		w.bad(string(w.b), "is no field")
		return nil
	}
	name := w.b[:n]
	w.b = w.b[n+1:]
	return name
}

// word takes what stands before the next space.
func (w *Walk) word() []byte {
	n := bytes.IndexByte(w.b, ' ')
	if n < 0 {
		n = len(w.b)
	}
	t := w.b[:n:n]
	w.b = w.b[n:]
	return t
}

// number takes a number, decimal or 0x; a name may follow it in brackets.
func (w *Walk) number(bits int) uint64 {
	t, _, _ := bytes.Cut(w.word(), []byte("("))
	base := 10
	if digits, ok := bytes.CutPrefix(t, []byte("0x")); ok {
		t, base = digits, 16
	}
	n, err := strconv.ParseUint(string(t), base, bits)
	if err != nil {
		w.bad(string(t), "is not a number of "+strconv.Itoa(bits)+" bits")
	}
	return n
}

// hex takes octets in hex.
func (w *Walk) hex() []byte {
	t := w.word()
	b, err := hex.AppendDecode(nil, t)
	if err != nil {
		w.bad(string(t), "is not hex")
	}
	return b
}

// value takes a bare value, which then points into the line, or a quoted one.
func (w *Walk) value() []byte {
	if len(w.b) > 0 && w.b[0] != '"' && w.b[0] != '*' {
		return w.word()
	}
	at := len(*w.own)
	*w.own = w.appendValue(*w.own)
	b := *w.own
	return b[at:len(b):len(b)]
}

// maxHidden bounds the text that a hidden one is read back as.
const maxHidden = 0xFFFF

// appendValue takes a value and appends its octets to b. A hidden text or
// password comes back as stars, so that its length at least is right.
func (w *Walk) appendValue(b []byte) []byte {
	if len(w.b) == 0 || w.b[0] != '"' {
		t := w.word()
		if digits, ok := bytes.CutPrefix(t, []byte("*")); ok && len(digits) > 0 && digits[0] != '*' {
			n, err := strconv.ParseUint(string(digits), 10, 16)
			if err != nil {
				w.bad(string(t), "is not a hidden text")
			}
			return append(b, bytes.Repeat([]byte("*"), int(min(n, maxHidden)))...)
		}
		return append(b, t...)
	}
	for i := 1; i < len(w.b); i++ {
		switch c := w.b[i]; {
		case c == '"':
			w.b = w.b[i+1:]
			return b
		case c != '\\':
			b = append(b, c)
		case i+3 < len(w.b) && w.b[i+1] == 'x':
			var err error
			if b, err = hex.AppendDecode(b, w.b[i+2:i+4]); err != nil {
				w.bad(string(w.b[i:i+4]), "is not an octet")
				return b
			}
			i += 3
		case i+1 < len(w.b) && (w.b[i+1] == '"' || w.b[i+1] == '\\'):
			b = append(b, w.b[i+1])
			i++
		default:
			w.bad(string(w.b[i:]), "is not an escape")
			return b
		}
	}
	w.bad(string(w.b), "has no closing quote")
	return b
}

// bad ends a scanning walk at what cannot be read.
func (w *Walk) bad(what, why string) {
	w.fail(strconv.Quote(what), 0, why)
}
