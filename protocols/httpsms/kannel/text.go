package kannel

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/ianaindex"

	"pmg/sms"
	"pmg/sms/charset"
)

// The values of coding.
const (
	sevenBit = iota
	eightBit
	ucs2
)

// encode returns the octets of a text that is in a charset, and their alphabet. If GSM 7-bit lacks a
// character of the text, the text becomes UCS-2.
func encode(text, from string, coding int) ([]byte, sms.Alphabet, bool) {
	if len(text) > maxText {
		return nil, 0, false
	}
	if coding == eightBit {
		return []byte(text), sms.Binary, true
	}
	if from == "" {
		from = map[bool]string{true: "UTF-16BE", false: "UTF-8"}[coding == ucs2]
	}
	if coding == ucs2 && strings.EqualFold(from, "UTF-16BE") { // the octets are already UCS-2
		return []byte(text), sms.UCS2, len(text)%2 == 0
	}
	characters, ok := decode([]byte(text), from)
	if !ok {
		return nil, 0, false
	}
	c, alphabet := charset.Charset{Coding: charset.UCS2}, sms.UCS2
	if coding == sevenBit {
		if c = charset.Best(characters, 0); c.Coding != charset.UCS2 {
			alphabet = sms.Default
		}
	}
	octets, _ := c.Encode(nil, characters, charset.Replace)
	return octets, alphabet, true
}

// decode returns a text that is in a charset as UTF-8. It reports false if the charset is unknown, or lacks a
// character of the text.
func decode(text []byte, from string) ([]byte, bool) {
	name := strings.ToUpper(strings.TrimSpace(from))
	switch {
	case name == "UTF-8" || name == "UTF8":
		return text, utf8.Valid(text)
	case name == "UCS-2" || name == "UCS-2BE":
		name = "UTF-16BE"
	case name == "UCS-2LE":
		name = "UTF-16LE"
	case strings.HasPrefix(name, "CP125"): // iconv's names
		name = "WINDOWS-" + name[2:]
	case strings.HasPrefix(name, "ISO8859-"):
		name = "ISO-" + name[3:]
	}
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		return nil, false
	}
	out, err := e.NewDecoder().Bytes(text)
	return out, err == nil && !bytes.ContainsRune(out, utf8.RuneError)
}
