package smpp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"pmg/internal/logtext"
)

// This file is the textual half of Walk. A field is printed as " name=value", in the
// form of package logtext, and left out if it is zero or empty. Scanning expects the fields
// in the same order and sets missing ones to zero.

// maxOctets is how many octets of unknown meaning a line shows at most. Otherwise a peer that
// sends only such octets could fill the disk.
const maxOctets = 1024

// A TLV is an optional parameter as Visit passes it.
type TLV struct {
	Tag   string  `json:"tag"`
	Name  *string `json:"name"` // nil: the tag is not assigned
	Len   int     `json:"len"`
	Value string  `json:"value"` // in hex
}

func (w *Walk) textU8(name string, v *uint8) {
	switch w.mode {
	case show:
		w.showNumber(name, uint64(*v))
		w.keep = false
	case scan:
		*v = 0
		if w.line.Take(name) {
			*v = uint8(w.line.Number(8))
		}
	case visit:
		w.call(name, *v)
	}
}

func (w *Walk) textString(name string, v *[]byte) {
	switch w.mode {
	case show:
		if len(*v) > 0 || w.keep {
			w.b = logtext.AppendValue(logtext.AppendName(w.b, name), *v)
			w.keep = false
		}
	case scan:
		*v = nil
		if w.line.Take(name) {
			*v = w.line.Value()
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
		if w.line.Take(name) {
			*v = w.line.Value()
		}
		if len(*v) > 255 {
			w.line.Fail(name, "is longer than 255 octets")
		}
	case visit:
		w.call(length, len(*v))
		w.call(name, hex.EncodeToString(*v))
	}
}

// textTLVs prints optional parameters by name, in wire order. An integer of the right size is
// printed in decimal, and other assigned parameters as quoted strings. Unassigned ones are
// printed as "tlv_0x1400=" and octets.
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

func (w *Walk) textStatus(name string, v *uint32) {
	switch w.mode {
	case show:
		w.b = appendStatus(logtext.AppendName(w.b, name), *v)
	case scan:
		*v = 0
		if w.line.Take(name) {
			*v = uint32(w.line.Number(32))
		}
	case visit:
		w.call(name, fmt.Sprintf("0x%08X", *v))
	}
}

// textList prints the number of items, and then the fields of each.
func (w *Walk) textList(count, name string, v *[]byte, item Fields) {
	n := listLen(*v)
	items := Walk{b: *v, at: 1}
	switch w.mode {
	case show:
		if n > 0 || w.keep {
			w.showNumber(count, uint64(n))
			w.keep = false
		}
		for range n {
			item.walk(&items)
			item.walk(w)
		}
	case scan:
		w.scanList(count, v, item)
	case visit:
		list := []any{}
		for range n {
			item.walk(&items)
			list = append(list, visitItem(item))
		}
		w.call(count, n)
		w.call(name, list)
	}
}

// visitItem returns an item as an object, or as a value if it has one field.
func visitItem(item Fields) any {
	fields := map[string]any{}
	var last any
	item.walk(&Walk{mode: visit, call: func(name string, value any) { fields[name], last = value, value }})
	if len(fields) == 1 {
		return last
	}
	return fields
}

// scanList parses the output of textList. Items that would be others in wire format are
// refused.
func (w *Walk) scanList(count string, v *[]byte, item Fields) {
	*v = nil
	if !w.line.Take(count) {
		return
	}
	n := w.line.Number(8)
	out := Walk{mode: write, b: []byte{byte(n)}}
	for range n {
		item.walk(w)
		item.walk(&out)
	}
	back := Walk{b: out.b, at: 1}
	for range n {
		item.walk(&back)
	}
	if back.err != nil || back.at != len(out.b) {
		w.line.Fail(count, "does not fit the items")
	} else if n > 0 {
		*v = out.b
	}
}

func (w *Walk) textRest(v *[]byte) {
	switch w.mode {
	case show:
		if len(*v) > 0 {
			w.showOctets(logtext.AppendName(w.b, "rest"), *v)
		}
	case scan:
		*v = nil
		if w.line.Take("rest") {
			*v = w.line.Octets()
		}
	case visit:
		if len(*v) > 0 {
			w.call("rest", hex.EncodeToString(*v))
		}
	}
}

// Showing.

func (w *Walk) showNumber(name string, n uint64) {
	w.b = strconv.AppendUint(logtext.AppendName(w.b, name), n, 10)
}

// showText prints a text, or only its length if texts are private.
func (w *Walk) showText(name string, v []byte) {
	b := logtext.AppendName(w.b, name)
	if w.full {
		w.b = logtext.AppendQuoted(b, v)
		return
	}
	w.b = logtext.AppendHidden(b, len(v))
}

// showOctets appends octets of unknown meaning to b, as many as the line may show. They are
// private, because they may be a text or a password.
func (w *Walk) showOctets(b, v []byte) {
	shown := 0
	if w.full {
		shown = min(len(v), int(w.room))
		w.room -= int32(shown)
	}
	w.b = logtext.AppendOctets(b, v, shown)
}

func (w *Walk) showTLV(tag uint16, value []byte) {
	p := findTag(tag)
	switch {
	case p == nil, p.kind == integer && p.size != len(value):
		b := append(w.b, " tlv_0x"...)
		b = hex.AppendEncode(b, []byte{byte(tag >> 8), byte(tag)})
		w.showOctets(append(b, '='), value)
	case p.kind == integer:
		var n uint64
		for _, c := range value {
			n = n<<8 | uint64(c)
		}
		w.showNumber(p.name, n)
	case p.kind == cstring:
		w.b = logtext.AppendQuoted(logtext.AppendName(w.b, p.name), value)
	default: // message_payload, and other parameters that may hold a text
		w.showText(p.name, value)
	}
}

// readable returns a printable string unchanged, and others in hex.
func readable(v []byte) string {
	for _, c := range v {
		if !logtext.Printable(c) {
			return "hex:" + hex.EncodeToString(v)
		}
	}
	return string(v)
}

// scanTLVs parses optional parameters up to a field of another kind.
func (w *Walk) scanTLVs(v *[]byte) {
	var b []byte
	for !w.line.Sees("rest") {
		name := w.line.Name()
		if name == nil {
			break
		}
		b = w.scanTLV(b, name)
	}
	*v = b
}

// scanTLV appends one optional parameter to b. Its name was scanned already.
func (w *Walk) scanTLV(b, name []byte) []byte {
	p := findParameter(name)
	at := len(b)
	switch {
	case len(name) == len("tlv_0x1400") && string(name[:6]) == "tlv_0x":
		tag, err := strconv.ParseUint(string(name[6:]), 16, 16)
		if err != nil {
			w.line.Fail(string(name), "is no tag")
			return b
		}
		b = binary.BigEndian.AppendUint32(b, uint32(tag)<<16)
		b = append(b, w.line.Octets()...)
	case p == nil:
		w.line.Fail(string(name), "is not a field that can stand here")
		return b
	case p.kind == integer:
		b = binary.BigEndian.AppendUint32(b, uint32(p.tag)<<16)
		n := w.line.Number(8 * p.size)
		for i := p.size - 1; i >= 0; i-- {
			b = append(b, byte(n>>(8*i)))
		}
	default:
		b = binary.BigEndian.AppendUint32(b, uint32(p.tag)<<16)
		b = w.line.AppendValue(b)
	}
	n := len(b) - at - tlvHeader
	if n > maxTLV {
		w.line.Fail(string(name), "is longer than 65535 octets")
		return b
	}
	binary.BigEndian.PutUint16(b[at+2:], uint16(n))
	return b
}
