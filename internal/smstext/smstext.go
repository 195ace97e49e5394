// Package smstext reads the text of a message in its alphabet, for people who look
// at logs and PDUs. Messages that pass the gateway are not changed by it.
//
// # Start reading
//
// Decode; package sms/charset has the alphabets.
package smstext

import (
	"bytes"

	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// Decode returns a text as UTF-8. header reports that it begins with a user data
// header (3GPP TS 23.040 §9.2.3.24), which is skipped, but for the languages that it
// names. Decode reports false for octets that are not a text in their alphabet.
//
// sms.Default is read as the GSM 7-bit alphabet, one character an octet. That has
// no octets above 0x7F, so a text with such octets is read as Latin-1: many peers
// send that as their default. What is sent as ASCII may be Latin-1 just as well, never
// the other way round.
func Decode(a sms.Alphabet, header bool, b []byte) (string, bool) {
	var h userdata.Header
	if header {
		head, text, ok := userdata.Cut(b)
		if !ok {
			return "", false
		}
		b = text
		h, _ = userdata.Parse(head) // a text can be read without the header
	}
	var c charset.Charset
	switch a {
	case sms.Default:
		if bytes.ContainsFunc(b, func(r rune) bool { return r > 0x7F }) {
			c.Coding = charset.Latin1
		}
	case sms.ASCII, sms.Latin1:
		c.Coding = charset.Latin1
	case sms.UCS2:
		c.Coding = charset.UCS2
		if len(b)%2 != 0 {
			return "", false
		}
	default:
		return "", false
	}
	text, _ := h.Charset(c).Decode(nil, b)
	return string(text), true
}
