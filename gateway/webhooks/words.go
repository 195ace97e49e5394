package webhooks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many octets are kept of the words that say why a call failed, and of a reply.
const (
	mostWords = 300
	mostReply = 256
)

// printable returns the beginning of a text, with points in the place of octets and characters that have no print, because
// servers of clients may answer anything.
func printable(text string, most int) string {
	if len(text) > most {
		text = text[:most]
		for range utf8.UTFMax - 1 { // a character that was cut is left out
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
