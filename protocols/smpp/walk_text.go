package smpp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
)

// This file is the textual half of Walk. A field is printed as " name=value"
// and left out when it is zero or empty; scanning takes fields in the same
// order and gives those that are not there their zero. A value is bare when it
// is made of [A-Za-z0-9+_.:@-] alone, otherwise quoted with \" \\ and \xNN.

// A TLV is an optional parameter as Visit shows it.
type TLV struct {
	Tag   string  `json:"tag"`
	Name  *string `json:"name"` // nil for a tag that is not assigned
	Len   int     `json:"len"`
	Value string  `json:"value"` // in hex
}

func (w *Walk) textU8(name string, v *uint8) {
	switch w.mode {
	case show:
		if *v != 0 {
			w.showNumber(name, uint64(*v))
		}
	case scan:
		*v = 0
		if w.take(name) {
			*v = uint8(w.number(8))
		}
	case visit:
		w.call(name, *v)
	}
}

func (w *Walk) textString(name string, v *[]byte) {
	switch w.mode {
	case show:
		if len(*v) > 0 || w.keep {
			w.name(name)
			w.b = appendValue(w.b, *v)
			w.keep = false
		}
	case scan:
		*v = nil
		if w.take(name) {
			*v = w.value()
		}
	case visit:
		w.call(name, readable(*v))
	}
}

func (w *Walk) textText(length, name string, v *[]byte) {
	switch w.mode {
	case show:
		if len(*v) > 0 {
			w.showText(name, *v)
		}
	case scan:
		*v = nil
		if w.take(name) {
			*v = w.value()
		}
		if len(*v) > 255 {
			w.bad(name, "is longer than 255 octets")
		}
	case visit:
		w.call(length, len(*v))
		w.call(name, hex.EncodeToString(*v))
	}
}

// textTLVs prints optional parameters by name, in the order of the wire. An
// integer of the size it should have is decimal, other assigned ones are quoted
// octets; whatever does not fit that is "tlv_0x1400=" and hex.
func (w *Walk) textTLVs(v *[]byte) {
	switch w.mode {
	case show:
		for tag, value := range TLVs(*v) {
			w.showTLV(tag, value)
		}
	case scan:
		w.scanTLVs(v)
	case visit:
		var list []TLV
		for tag, value := range TLVs(*v) {
			t := TLV{Tag: fmt.Sprintf("0x%04X", tag), Len: len(value), Value: hex.EncodeToString(value)}
			if p := findTag(tag); p != nil {
				t.Name = &p.name
			}
			list = append(list, t)
		}
		if list != nil {
			w.call("tlvs", list)
		}
	}
}

func (w *Walk) textRest(v *[]byte) {
	switch w.mode {
	case show:
		if len(*v) > 0 {
			w.name("rest")
			w.b = hex.AppendEncode(w.b, *v)
		}
	case scan:
		*v = nil
		if w.take("rest") {
			*v = w.hex()
		}
	case visit:
		if len(*v) > 0 {
			w.call("rest", hex.EncodeToString(*v))
		}
	}
}

// Showing.

func (w *Walk) name(name string) {
	at := len(w.b)
	end := at + len(name) + 1
	b := slices.Grow(w.b, len(name)+2)[:end+1]
	b[at], b[end] = ' ', '='
	copy(b[at+1:], name)
	w.b = b
}

func (w *Walk) showNumber(name string, n uint64) {
	w.name(name)
	w.b = strconv.AppendUint(w.b, n, 10)
}

// showText prints a text, or only how long it is where texts are private.
func (w *Walk) showText(name string, v []byte) {
	w.name(name)
	if w.text {
		w.b = appendQuoted(w.b, v)
		return
	}
	w.b = strconv.AppendInt(append(w.b, '*'), int64(len(v)), 10)
}

func (w *Walk) showTLV(tag uint16, value []byte) {
	p := findTag(tag)
	switch {
	case p == nil, p.kind == integer && p.size != len(value):
		w.b = append(w.b, " tlv_0x"...)
		w.b = hex.AppendEncode(w.b, []byte{byte(tag >> 8), byte(tag)})
		w.b = append(w.b, '=')
		w.b = hex.AppendEncode(w.b, value)
	case p.kind == integer:
		var n uint64
		for _, c := range value {
			n = n<<8 | uint64(c)
		}
		w.showNumber(p.name, n)
	case tag == tagPayload:
		w.showText(p.name, value)
	default:
		w.name(p.name)
		w.b = appendQuoted(w.b, value)
	}
}

// A set is a set of octets.
type set [256]bool

func setOf(holds func(c byte) bool) (s set) {
	for c := range s {
		s[c] = holds(byte(c))
	}
	return s
}

var (
	// bare are the octets of a value that needs no quotes.
	bare = setOf(func(c byte) bool {
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte("+_.:@-"), c) >= 0
	})
	// plain are those that stand for themselves between quotes.
	plain = setOf(func(c byte) bool { return printable(c) && c != '"' && c != '\\' })
)

func appendValue(b, v []byte) []byte {
	for _, c := range v {
		if !bare[c] {
			return appendQuoted(b, v)
		}
	}
	if len(v) == 0 {
		return append(b, `""`...)
	}
	return append(b, v...)
}

func printable(c byte) bool { return c >= ' ' && c <= '~' }

func appendQuoted(b, v []byte) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for {
		n := plainPrefix(v)
		b = append(b, v[:n]...)
		if n == len(v) {
			return append(b, '"')
		}
		if c := v[n]; printable(c) {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'x', digits[c>>4], digits[c&15])
		}
		v = v[n+1:]
	}
}

// plainPrefix is how many octets at the start of v stand for themselves between
// quotes. It looks at eight at a time: each of the terms has the top bit of an
// octet set that is below 0x20, above 0x7E, a quote or a backslash, and perhaps those
// of others behind the first such.
func plainPrefix(v []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(v)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(v[n:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if (x|(x-ones*' ')|(x+ones)|(quote-ones)|(slash-ones))&tops != 0 {
			break
		}
	}
	for n < len(v) && plain[v[n]] {
		n++
	}
	return n
}

// readable gives a string for people: as it is, or its octets in hex.
func readable(v []byte) string {
	for _, c := range v {
		if !printable(c) {
			return "hex:" + hex.EncodeToString(v)
		}
	}
	return string(v)
}

// scanTLVs reads optional parameters until a field that is none.
func (w *Walk) scanTLVs(v *[]byte) {
	at := len(*w.own)
	for !w.sees("rest") {
		name := w.key()
		if name == nil || !w.scanTLV(name) {
			break
		}
	}
	*v = nil
	if b := *w.own; len(b) > at {
		*v = b[at:len(b):len(b)]
	}
}

// scanTLV appends one optional parameter to w.own; its name has been read.
func (w *Walk) scanTLV(name []byte) bool {
	p := findParameter(name)
	b := *w.own
	at := len(b)
	switch {
	case len(name) == len("tlv_0x1400") && string(name[:6]) == "tlv_0x":
		tag, err := strconv.ParseUint(string(name[6:]), 16, 16)
		if err != nil {
			w.bad(string(name), "is no tag")
			return false
		}
		b = binary.BigEndian.AppendUint32(b, uint32(tag)<<16)
		b = append(b, w.hex()...)
	case p == nil:
		w.bad(string(name), "is not a field that can stand here")
		return false
	case p.kind == integer:
		b = binary.BigEndian.AppendUint32(b, uint32(p.tag)<<16)
		n := w.number(8 * p.size)
		for i := p.size - 1; i >= 0; i-- {
			b = append(b, byte(n>>(8*i)))
		}
	default:
		b = binary.BigEndian.AppendUint32(b, uint32(p.tag)<<16)
		b = w.appendValue(b)
	}
	n := len(b) - at - tlvHeader
	if n > 0xFFFF {
		w.bad(string(name), "is longer than 65535 octets")
		return false
	}
	binary.BigEndian.PutUint16(b[at+2:], uint16(n))
	*w.own = b
	return true
}
