package ucp

import "pmg/sms/charset"

// gsmEscape announces a character of the extension table.
const gsmEscape = 0x1B

// septets has the GSM form of each character of Latin-1: one octet, or two of which the
// first is the escape. noSeptet stands for one that has none.
var septets = func() (table [256]uint16) {
	for c := range table {
		b, loss := charset.Charset{}.Encode(nil, []byte(string(rune(c))), charset.Report)
		switch {
		case loss.Count > 0 || len(b) == 0:
			table[c] = noSeptet
		case len(b) == 2:
			table[c] = gsmEscape<<8 | uint16(b[1])
		default:
			table[c] = uint16(b[0])
		}
	}
	return table
}()

const noSeptet = 0xFFFF

// latin1 has the characters of Latin-1 by their GSM form, a septet or a septet behind
// the escape, and 0 for what is none of them.
var latin1 = func() (table [2][128]byte) {
	for c, s := range septets {
		if s != noSeptet {
			table[min(s>>8, 1)][s&0x7F] = byte(c)
		}
	}
	return table
}()

// appendGSM appends a text in Latin-1 in the GSM 7-bit alphabet, one septet an octet.
// It reports false, and appends nothing, if a character has no place there.
func appendGSM(to, text []byte) ([]byte, bool) {
	at := len(to)
	for _, c := range text {
		switch s := septets[c]; {
		case s == noSeptet:
			return to[:at], false
		case s > 0xFF:
			to = append(to, gsmEscape, byte(s))
		default:
			to = append(to, byte(s))
		}
	}
	return to, true
}

// appendLatin1 appends a text in the GSM 7-bit alphabet, one septet an octet, in
// Latin-1. It reports false if a character has no place there; '?' stands for it.
func appendLatin1(to, gsm []byte) ([]byte, bool) {
	whole := true
	for i := 0; i < len(gsm); i++ {
		c := byte(0)
		switch {
		case gsm[i] == gsmEscape && i+1 < len(gsm) && gsm[i+1] < 0x80 && latin1[1][gsm[i+1]] != 0:
			i++
			c = latin1[1][gsm[i]]
		case gsm[i] < 0x80 && gsm[i] != gsmEscape:
			c = latin1[0][gsm[i]]
		}
		if c == 0 {
			c, whole = '?', false
		}
		to = append(to, c)
	}
	return to, whole
}
