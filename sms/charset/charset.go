package charset

import (
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A Coding is a way to write characters as octets.
type Coding uint8

// The codings.
const (
	GSM7   Coding = iota // GSM 7-bit, one septet in an octet
	Packed               // GSM 7-bit, eight septets in seven octets
	ASCII                // IA5
	Latin1               // ISO 8859-1
	UCS2                 // UTF-16, most significant octet first
	UTF8
	Cyrillic // ISO 8859-5
	Hebrew   // ISO 8859-8
)

// A Charset is a coding and, for the two GSM 7-bit codings, the national language tables that replace the default tables. The
// zero Charset is GSM 7-bit with the default tables.
type Charset struct {
	Coding  Coding
	Locking Language // basic table of characters, which IE 0x25 of the user data header selects
	Single  Language // extension table of characters, which follow an escape; IE 0x24 selects the table
}

// PartOctets is the number of octets of user data in a short message, including the header (3GPP TS 23.040 §9.2.3.24).
const PartOctets = 140

// Room returns the number of units in a short message with a user data header of header octets, including the header's length
// octet. Units are septets for GSM7 and Packed, 16 bits for UCS2, and octets otherwise, as in Count.
func (c Charset) Room(header int) int {
	left := max(PartOctets-header, 0)
	switch c.Coding {
	case GSM7, Packed:
		return left * 8 / 7
	case UCS2:
		return left / 2
	}
	return left
}

// Decode appends the text of the octets to dst as UTF-8. It reports false if an octet has no meaning in the
// charset. Such an octet is read as U+FFFD, or as a mobile would show it, if 3GPP TS 23.038 defines that.
func (c Charset) Decode(dst, octets []byte) ([]byte, bool) {
	switch c.Coding {
	case GSM7:
		return c.decodeSeptets(dst, octets)
	case Packed:
		return c.decodePacked(dst, octets)
	case UCS2:
		return decodeUTF16(dst, octets)
	case UTF8:
		return decodeUTF8(dst, octets)
	}
	if m := c.Coding.charmap(); m != nil {
		return decodeMapped(dst, octets, m)
	}
	ok := true
	for _, v := range octets {
		if v >= utf8.RuneSelf && c.Coding == ASCII {
			dst, ok = utf8.AppendRune(dst, utf8.RuneError), false
			continue
		}
		dst = utf8.AppendRune(dst, rune(v))
	}
	return dst, ok
}

// charmap returns the character table of a coding of ISO 8859; nil for other codings.
func (c Coding) charmap() *charmap.Charmap {
	switch c {
	case Cyrillic:
		return charmap.ISO8859_5
	case Hebrew:
		return charmap.ISO8859_8
	}
	return nil
}

func decodeMapped(dst, octets []byte, m *charmap.Charmap) ([]byte, bool) {
	ok := true
	for _, v := range octets {
		r := m.DecodeByte(v)
		dst, ok = utf8.AppendRune(dst, r), ok && r != utf8.RuneError
	}
	return dst, ok
}

// decodeUTF16 reads half a surrogate pair and a single octet at the end as U+FFFD.
func decodeUTF16(dst, b []byte) (_ []byte, ok bool) {
	ok = true
	for ; len(b) >= 2; b = b[2:] {
		r := rune(b[0])<<8 | rune(b[1])
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(b) >= 4 {
				pair = utf16.DecodeRune(r, rune(b[2])<<8|rune(b[3]))
			}
			if r = pair; r == utf8.RuneError {
				ok = false
			} else {
				b = b[2:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	if len(b) > 0 {
		dst, ok = utf8.AppendRune(dst, utf8.RuneError), false
	}
	return dst, ok
}

func decodeUTF8(dst, b []byte) ([]byte, bool) {
	if utf8.Valid(b) {
		return append(dst, b...), true
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		dst, b = utf8.AppendRune(dst, r), b[n:]
	}
	return dst, false
}

// A Policy is the treatment of characters that a charset lacks.
type Policy uint8

// The policies.
const (
	Report        Policy = iota // nothing is written, so that the caller can choose another charset, or refuse the text
	Replace                     // '?' is written
	Transliterate               // similar characters are written, or '?' for characters without a similar one
)

// A Loss describes the characters of a text that its charset lacks.
type Loss struct {
	Count    int  // number of missing characters; with Report, 1 means at least one
	Replaced int  // number of characters that were replaced by '?'
	First    rune // the first missing character; U+FFFD for octets that are not UTF-8
	At       int  // offset of the first missing character in the text
}

// Encode appends the text, which is UTF-8, to dst in the charset. With Report, it returns dst unchanged if
// the charset lacks a character. Octets that are not UTF-8 count as characters that every charset lacks.
// Letters and marks are composed, so that positions in Loss refer to the text that Compose returns.
func (c Charset) Encode(dst, text []byte, p Policy) ([]byte, Loss) {
	text = Compose(text)
	if dst == nil {
		dst = make([]byte, 0, len(text))
	}
	e := encoder{Charset: c, locking: c.Locking.locking(), single: c.Single.single()}
	start := len(dst)
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		out, ok := e.write(dst, r)
		switch {
		case ok && (r != utf8.RuneError || n > 1):
			dst = out
		case p == Report:
			return dst[:start], Loss{Count: 1, First: r, At: i}
		case p == Replace:
			dst = e.replace(dst, r, i)
		default:
			dst = e.transliterate(dst, text[i:i+n], r, i)
		}
		i += n
	}
	if c.Coding == Packed {
		dst = AppendPacked(dst[:start], dst[start:], 0)
	}
	return dst, e.loss
}

// Count returns the number of units that Encode would write, and reports whether the charset has every
// character of the text. Units are defined as for Room.
func (c Charset) Count(text []byte) (units int, ok bool) {
	text = Compose(text)
	e := encoder{Charset: c, locking: c.Locking.locking(), single: c.Single.single()}
	var b [utf8.UTFMax]byte
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			if r, n = utf8.DecodeRune(text[i:]); r == utf8.RuneError && n == 1 {
				return 0, false
			}
		}
		out, ok := e.write(b[:0], r)
		if !ok {
			return 0, false
		}
		units += len(out)
		i += n
	}
	if c.Coding == UCS2 {
		units /= 2
	}
	return units, true
}

// An encoder writes one text.
type encoder struct {
	Charset
	locking, single *table
	loss            Loss
}

// write appends a character, and reports whether the charset has it.
func (e *encoder) write(dst []byte, r rune) ([]byte, bool) {
	switch e.Coding {
	case ASCII, Latin1:
		if r >= utf8.RuneSelf && e.Coding == ASCII || r > 0xFF {
			return dst, false
		}
		return append(dst, byte(r)), true
	case Cyrillic, Hebrew:
		v, ok := e.Coding.charmap().EncodeRune(r)
		if !ok {
			return dst, false
		}
		return append(dst, v), true
	case UTF8:
		return utf8.AppendRune(dst, r), true
	case UCS2:
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			return append(dst, byte(high>>8), byte(high), byte(low>>8), byte(low)), true
		}
		return append(dst, byte(r>>8), byte(r)), true
	}
	if v, ok := e.locking.find(r); ok {
		return append(dst, v), true
	}
	if v, ok := e.single.find(r); ok {
		return append(dst, escape, v), true
	}
	return dst, false
}

// replace writes '?' for a character of the text at an offset.
func (e *encoder) replace(dst []byte, r rune, at int) []byte {
	e.lacks(r, at)
	e.loss.Replaced++
	dst, _ = e.write(dst, '?') // every charset has '?'
	return dst
}

func (e *encoder) lacks(r rune, at int) {
	if e.loss.Count == 0 {
		e.loss.First, e.loss.At = r, at
	}
	e.loss.Count++
}
