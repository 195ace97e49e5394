package smstext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pmg/sms"
	"pmg/sms/userdata"
)

// MostTyped is the number of octets of a text that Typed reads: a header and some hundred characters.
const MostTyped = 512

// longestWord is the maximum length in octets of a word, without blanks and punctuation around it.
const longestWord = 80

// Typed returns the text that a person has typed, or its beginning. A text in an unknown alphabet, or in octets, is read if
// its octets are ASCII: STOP is the same in all alphabets.
func Typed(a sms.Alphabet, header bool, octets []byte) string {
	octets = octets[:min(len(octets), MostTyped)]
	if text, ok := Decode(a, header, octets); ok {
		return text
	}
	if header {
		var ok bool
		if _, octets, ok = userdata.Cut(octets); !ok {
			return ""
		}
	}
	if text, ok := ascii(octets, 1, 0); ok {
		return text
	}
	text, _ := ascii(octets, 2, 1) // UCS-2
	return text
}

// ascii reads every step-th octet as ASCII, starting at from. The others must be 0.
func ascii(octets []byte, step, from int) (string, bool) {
	if len(octets)%step != 0 {
		return "", false
	}
	text := make([]byte, 0, len(octets)/step)
	for i, c := range octets {
		switch {
		case i%step != from && c == 0:
		case i%step == from && (c >= ' ' && c < 0x7f || c == '\r' || c == '\n'):
			text = append(text, c)
		default:
			return "", false
		}
	}
	return string(text), true
}

// Word returns a text in a form for comparison with words: upper case, composed, letters of normal width, single blanks, and
// no blanks or punctuation around it. It returns "" for a text above longestWord.
func Word(text string) string {
	text = strings.TrimFunc(text, isNoLetter)
	if len(text) > longestWord {
		return ""
	}
	return strings.Join(strings.Fields(folded(text)), " ")
}

// FirstWord returns the first word of a text, in the form of Word.
func FirstWord(text string) string {
	text = strings.TrimLeftFunc(folded(text[:cutAt(text)]), isNoLetter)
	if end := strings.IndexFunc(text, isNoLetter); end >= 0 {
		text = text[:end]
	}
	return text
}

// cutAt returns the index at which a text is cut before its first word is looked for, which is not within a character.
func cutAt(text string) int {
	n := min(len(text), 3*MostTyped)
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// folded returns a text in upper case, composed (Unicode NFKC), without invisible characters, and with one kind of hyphen.
func folded(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.Is(unicode.Cf, c) || c >= 0xfe00 && c <= 0xfe0f: // formatting characters
			return -1
		case unicode.Is(unicode.Pd, c):
			return '-'
		}
		return unicode.ToUpper(c)
	}, norm.NFKC.String(text))
}

// isNoLetter reports whether a character is neither a letter, nor a digit, nor a combining mark.
func isNoLetter(c rune) bool {
	return !unicode.In(c, unicode.L, unicode.N, unicode.Mn, unicode.Mc) || c >= 0xfe00 && c <= 0xfe0f
}
