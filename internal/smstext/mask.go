package smstext

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// Mask returns a text of the same length whose letters and digits are replaced by others of their class: x, X, 0, and
// beyond Latin ж, Ж and 字. The user data header stays, and so do spaces and punctuation. Octets that are no text become 0.
func Mask(a sms.Alphabet, header bool, octets []byte) []byte {
	octets = slices.Clone(octets)
	var h userdata.Header
	var head []byte
	text := octets
	if header {
		var ok bool
		if head, text, ok = userdata.Cut(octets); !ok {
			clear(octets)
			return octets
		}
		h, _ = userdata.Parse(head) // without a valid header the text can still be read
	}
	c, ok := CharsetOf(a)
	c = h.Charset(c)
	isHigh := slices.ContainsFunc(text, func(c byte) bool { return c > 0x7F })
	if a == sms.Default && isHigh || c.Coding == charset.ASCII {
		c = charset.Charset{Coding: charset.Latin1} // as Append reads it
	}
	switch {
	case !ok:
		clear(text)
	case c.Coding == charset.UCS2:
		maskUCS2(text)
	case c.Coding == charset.UTF8:
		maskUTF8(text)
	case c.Coding == charset.Packed:
		septets := Unpack(nil, head, text)
		c.Coding = charset.GSM7
		maskOctets(c, septets)
		copy(text, charset.AppendPacked(nil, septets, charset.FillBits(len(head))))
	default:
		maskOctets(c, text)
	}
	return octets
}

// Octets of GSM 7-bit: the escape, and the one that is the euro sign behind an escape in each language.
const (
	escape = 0x1B
	euro   = 0x65
)

// maskOctets masks a text with an octet for each character.
func maskOctets(c charset.Charset, b []byte) {
	for i := 0; i < len(b); i++ {
		if c.Coding == charset.GSM7 && b[i] == escape {
			if i++; i < len(b) {
				b[i] = euro
			}
			continue
		}
		text, ok := c.Decode(nil, b[i:i+1])
		r, _ := utf8.DecodeRune(text)
		switch {
		case !ok || unicode.IsLetter(r) && !unicode.IsUpper(r) || unicode.IsMark(r):
			b[i] = 'x'
		case unicode.IsUpper(r):
			b[i] = 'X'
		case unicode.IsNumber(r):
			b[i] = '0'
		}
	}
}

// maskUCS2 masks a text of UTF-16. An odd octet at the end becomes 0.
func maskUCS2(b []byte) {
	for ; len(b) >= 2; b = b[2:] {
		unit := binary.BigEndian.Uint16(b)
		switch {
		case unit >= 0xD800 && unit < 0xDC00:
			unit = 0xD83D // with the second one it is a face
		case unit >= 0xDC00 && unit < 0xE000:
			unit = 0xDE00
		default:
			unit = uint16(standIn(rune(unit)))
		}
		binary.BigEndian.PutUint16(b, unit)
	}
	clear(b)
}

// maskUTF8 masks a text of UTF-8: each character is replaced by one with as many octets.
func maskUTF8(b []byte) {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		other := standIn(r)
		if r == utf8.RuneError && n == 1 {
			other = 'x'
		} else if utf8.RuneLen(other) != n || n == 4 {
			other = [...]rune{1: 'x', 2: 'ж', 3: '字', 4: '\U0001F600'}[n]
		}
		utf8.EncodeRune(b, other)
		b = b[n:]
	}
}

// standIn returns what stands for a character.
func standIn(r rune) rune {
	isUpper, isLatin := unicode.IsUpper(r), r < 0x250
	switch {
	case unicode.IsNumber(r): // ² and ① are digits, too
		return '0'
	case unicode.IsMark(r):
		return '\u0301'
	case !unicode.IsLetter(r):
		return r
	case isLatin && isUpper:
		return 'X'
	case isLatin:
		return 'x'
	case isUpper:
		return 'Ж'
	case unicode.IsLower(r):
		return 'ж'
	}
	return '字'
}
