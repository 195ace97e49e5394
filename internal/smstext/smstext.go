// Package smstext decodes the text of a message, for showing logs and PDUs to people. The
// gateway forwards messages without it.
//
// # Start reading
//
// Decode; gsm.go has the GSM 7-bit alphabet.
package smstext

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pmg/sms"
)

// Decode returns a text as UTF-8. If header is set, the text begins with a user data header
// (3GPP TS 23.040 §9.2.3.24), which is skipped. Decode returns false for octets that are
// not a text in the alphabet.
//
// sms.Default is decoded as the GSM 7-bit alphabet, one character per octet. That has no
// octets above 0x7F, so a text with such octets is decoded as Latin-1, which many peers
// send as their default.
func Decode(a sms.Alphabet, header bool, b []byte) (string, bool) {
	if header {
		var ok bool
		if b, ok = skipHeader(b); !ok {
			return "", false
		}
	}
	switch a {
	case sms.Default:
		if text, ok := gsm(b); ok {
			return text, true
		}
		return latin1(b), true
	case sms.ASCII, sms.Latin1: // some peers send Latin-1 as ASCII
		return latin1(b), true
	case sms.UCS2:
		return ucs2(b)
	}
	return "", false
}

// skipHeader returns what follows the user data header, whose length is its first octet.
func skipHeader(b []byte) ([]byte, bool) {
	if len(b) == 0 || int(b[0])+1 > len(b) {
		return nil, false
	}
	return b[1+int(b[0]):], true
}

func latin1(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// ucs2 decodes UTF-16 with the most significant octet first. It accepts surrogates, which
// UCS-2 does not have, because phones send emoji as surrogate pairs.
func ucs2(b []byte) (string, bool) {
	if len(b)%2 != 0 {
		return "", false
	}
	text := make([]byte, 0, len(b))
	for ; len(b) > 0; b = b[2:] {
		r := rune(b[0])<<8 | rune(b[1])
		if utf16.IsSurrogate(r) && len(b) >= 4 {
			if pair := utf16.DecodeRune(r, rune(b[2])<<8|rune(b[3])); pair != utf8.RuneError {
				r, b = pair, b[2:]
			}
		}
		text = utf8.AppendRune(text, r) // a single surrogate becomes U+FFFD
	}
	return string(text), true
}
