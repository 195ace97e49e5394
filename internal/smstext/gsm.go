package smstext

import "strings"

// escape is followed by a character of the extension table.
const escape = 0x1B

// basic is the GSM 7-bit default alphabet (3GPP TS 23.038 §6.2.1), by octet. The escape has
// a no-break space, which receivers show if they do not know the character after it.
var basic = []rune("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u00a0ÆæßÉ" +
	" !\"#¤%&'()*+,-./0123456789:;<=>?" +
	"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§" +
	"¿abcdefghijklmnopqrstuvwxyzäöñüà")

// extension returns a character of the extension table (§6.2.1.1), which follows an
// escape.
func extension(c byte) (rune, bool) {
	switch c {
	case 0x0A:
		return '\f', true
	case 0x14:
		return '^', true
	case 0x28:
		return '{', true
	case 0x29:
		return '}', true
	case 0x2F:
		return '\\', true
	case 0x3C:
		return '[', true
	case 0x3D:
		return '~', true
	case 0x3E:
		return ']', true
	case 0x40:
		return '|', true
	case 0x65:
		return '€', true
	}
	return 0, false
}

// gsm decodes a text in the GSM 7-bit alphabet with one character per octet. It returns
// false if an octet is above 0x7F.
func gsm(b []byte) (string, bool) {
	var s strings.Builder
	s.Grow(len(b))
	for i := 0; i < len(b); i++ {
		c := b[i]
		if int(c) >= len(basic) {
			return "", false
		}
		if c == escape && i+1 < len(b) {
			if r, ok := extension(b[i+1]); ok {
				s.WriteRune(r)
				i++
				continue
			}
		}
		s.WriteRune(basic[c])
	}
	return s.String(), true
}
