package number

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// AppendName appends the name of a sender in the form for comparison: composed, and in upper case.
func AppendName(b, name []byte) []byte {
	if !norm.NFC.IsNormal(name) {
		name = norm.NFC.Bytes(name)
	}
	for at := 0; at < len(name); {
		c, size := utf8.DecodeRune(name[at:])
		if c == utf8.RuneError && size == 1 {
			b = append(b, name[at])
		} else {
			b = utf8.AppendRune(b, unicode.ToUpper(c))
		}
		at += size
	}
	return b
}
