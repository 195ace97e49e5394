package charset

import (
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
	s, ok := lookalike(r)
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

// lookalike returns what is written for a character that has no decomposition in
// Unicode. All of it is in the GSM 7-bit default table and in ASCII.
func lookalike(r rune) (string, bool) {
	switch r {
	case '‘', '’', '‚', '‛', '′', '‹', '›', '`', '´', 'ʼ':
		return "'", true
	case '“', '”', '„', '‟', '″', '«', '»':
		return `"`, true
	case '‐', '‑', '‒', '–', '—', '―', '−', '\u00AD':
		return "-", true
	case '\u00A0', '\u202F', '\t':
		return " ", true
	case '\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF', '\uFE0F':
		return "", true
	case '\u2028', '\u2029', '\u0085':
		return "\n", true
	case '•', '·':
		return "*", true
	case '⁄', '∕', '÷':
		return "/", true
	case '×':
		return "x", true
	case '¦', '|':
		return "!", true
	case '[', '{':
		return "(", true
	case ']', '}':
		return ")", true
	case '~':
		return "-", true
	case '\\':
		return "/", true
	case '°', 'º':
		return "o", true
	case '©':
		return "(C)", true
	case '®':
		return "(R)", true
	case '€':
		return "EUR", true
	case '£':
		return "GBP", true
	case '¥':
		return "JPY", true
	}
	return letterLike(r)
}

// letterLike is lookalike for letters.
func letterLike(r rune) (string, bool) {
	switch r {
	case 'Α':
		return "A", true
	case 'Β':
		return "B", true
	case 'Ε':
		return "E", true
	case 'Ζ':
		return "Z", true
	case 'Η':
		return "H", true
	case 'Ι':
		return "I", true
	case 'Κ':
		return "K", true
	case 'Μ':
		return "M", true
	case 'Ν':
		return "N", true
	case 'Ο':
		return "O", true
	case 'Ρ':
		return "P", true
	case 'Τ':
		return "T", true
	case 'Υ':
		return "Y", true
	case 'Χ':
		return "X", true
	case 'Æ':
		return "AE", true
	case 'æ':
		return "ae", true
	case 'Œ':
		return "OE", true
	case 'œ':
		return "oe", true
	case 'ß':
		return "ss", true
	case 'ẞ':
		return "SS", true
	case 'Ø':
		return "O", true
	case 'ø':
		return "o", true
	case 'Ł':
		return "L", true
	case 'ł':
		return "l", true
	case 'Đ', 'Ð':
		return "D", true
	case 'đ', 'ð':
		return "d", true
	case 'Þ':
		return "TH", true
	case 'þ':
		return "th", true
	case 'Ħ':
		return "H", true
	case 'ħ':
		return "h", true
	case 'ı':
		return "i", true
	case 'Ŧ':
		return "T", true
	case 'ŧ':
		return "t", true
	case 'Ŋ':
		return "N", true
	case 'ŋ':
		return "n", true
	}
	return "", false
}
