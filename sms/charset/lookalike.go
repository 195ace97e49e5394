package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// transliterate writes a similar character of the charset, or '?' if there is none. encoded is the character
// as UTF-8, and at is its position in the text.
func (e *encoder) transliterate(dst, encoded []byte, r rune, at int) []byte {
	if out, ok := e.similar(dst, r); ok {
		e.lacks(r, at)
		return out
	}
	out, ok := dst, unicode.Is(unicode.Mn, r) // a combining mark may be dropped, because its letter is kept
	for s := norm.NFKD.Properties(encoded).Decomposition(); len(s) > 0; {
		part, n := utf8.DecodeRune(s)
		s = s[n:]
		if unicode.Is(unicode.Mn, part) {
			continue
		}
		if out, ok = e.write(out, part); ok {
			continue
		}
		if out, ok = e.similar(out, part); !ok {
			break
		}
	}
	if !ok {
		return e.replace(dst, r, at)
	}
	e.lacks(r, at)
	return out
}

// similar writes the look-alikes of a character. It reports false if the charset has no look-alike.
func (e *encoder) similar(dst []byte, r rune) ([]byte, bool) {
	if greek := r >= 0x370 && r < 0x400; greek && unicode.IsLower(r) { // GSM 7-bit has capitals only
		r = unicode.ToUpper(r)
		if out, ok := e.write(dst, r); ok {
			return out, true
		}
	}
	s, ok := lookalikes[r]
	if !ok {
		return dst, false
	}
	out := dst
	for _, r := range s {
		if out, ok = e.write(out, r); !ok {
			return dst, false
		}
	}
	return out, true
}

// Compose returns a text in UTF-8 in which letters and their marks are composed to one character if possible (é), and
// characters with a canonical equivalent (the ohm sign) are replaced. Charsets lack separate marks, so a decomposed text, as
// some systems write it, would need UCS-2, and twice the space there. Characters that would become longer are kept: some
// scripts have no composed characters in this form, but national language tables have. A text without anything to compose is
// returned unchanged.
func Compose(text []byte) []byte {
	if isComposed(text) || norm.NFC.IsNormal(text) {
		return text
	}
	all := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := max(norm.NFC.NextBoundary(text, true), 1)
		at := len(all)
		if all = norm.NFC.Append(all, text[:n]...); len(all)-at >= n {
			all = append(all[:at], text[:n]...)
		}
		text = text[n:]
	}
	return all
}

// isComposed reports whether a text certainly has nothing to compose: no characters from the first mark (U+0300) on, except
// dashes, quotes and dots (U+2010 to U+2027) and currencies (U+20A0 to U+20BF). It takes a tenth of the time of Compose.
func isComposed(text []byte) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < 0xcc { // the first octet of U+0300
			continue
		}
		if c != 0xe2 || i+2 >= len(text) {
			return false
		}
		switch third := text[i+2]; text[i+1] {
		case 0x80:
			if third < 0x90 || third > 0xa7 {
				return false
			}
		case 0x82:
			if third < 0xa0 {
				return false
			}
		default:
			return false
		}
		i += 2
	}
	return true
}

// lookalikes maps characters without a decomposition in Unicode to their replacements, which are all in the GSM 7-bit default
// table and in ASCII.
var lookalikes = func() map[rune]string {
	all := map[rune]string{}
	for _, row := range [...]struct{ characters, written string }{
		{"‘’‚‛′‹›`´ʼ", "'"},
		{"“”„‟″«»", `"`},
		{"‐‑‒–—―−\u00AD~", "-"},
		{"\u00A0\u202F\t", " "},
		{"\u200B\u200C\u200D\u2060\uFEFF\uFE0F", ""},
		{"\u2028\u2029\u0085", "\n"},
		{"•·", "*"},
		{"⁄∕÷\\", "/"},
		{"¦|", "!"},
		{"[{", "("},
		{"]}", ")"},
	} {
		for _, r := range row.characters {
			all[r] = row.written
		}
	}
	for word := range strings.FieldsSeq("×x °o ºo ©(C) ®(R) €EUR £GBP ¥JPY " +
		"ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX " +
		"ÆAE æae ŒOE œoe ßss ẞSS ØO øo ŁL łl ĐD ÐD đd ðd ÞTH þth ĦH ħh ıi ŦT ŧt ŊN ŋn") {
		r, n := utf8.DecodeRuneInString(word)
		all[r] = word[n:]
	}
	return all
}()
