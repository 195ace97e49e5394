package webhooks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The maximum lengths of an error text and of a reply, in octets.
const (
	mostWords = 300
	mostReply = 256
)

// printable returns the beginning of a text, with octets and characters that cannot be printed
// replaced by points. Servers of clients may answer anything.
func printable(text string, most int) string {
	if len(text) > most {
		text = text[:most]
		for range utf8.UTFMax - 1 { // removes a character that was cut
			if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, text)
	return clean
}
