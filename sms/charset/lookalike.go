package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// transliterate writes what looks like a character of the text, '?' if nothing does.
// encoded is the character as UTF-8, at is its place in the text.
func (e *encoder) transliterate(dst, encoded []byte, r rune, at int) []byte {
	if out, ok := e.similar(dst, r); ok {
		e.lacks(r, at)
		return out
	}
	out, ok := dst, unicode.Is(unicode.Mn, r) // a mark may be missing, its letter is there
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

// similar writes the look-alikes of a character, and reports whether there are any that
// the charset has.
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

// compose returns the character that a letter and a mark behind it are in one piece.
func compose(letter, mark rune) (rune, bool) {
	if letter == utf8.RuneError || !unicode.Is(unicode.Mn, mark) {
		return 0, false
	}
	b := utf8.AppendRune(utf8.AppendRune(nil, letter), mark)
	b = norm.NFC.Bytes(b)
	r, n := utf8.DecodeRune(b)
	return r, n == len(b)
}

// lookalikes maps characters without a decomposition in Unicode to what is written in their place.
// All of that is in the GSM 7-bit default table and in ASCII.
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
