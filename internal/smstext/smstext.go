// Package smstext reads and writes the text of a message in its alphabet.
//
// # Start reading
//
// Append, Encode; package sms/charset has the alphabets.
package smstext

import (
	"slices"

	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// Decode returns a text as UTF-8; see Append.
func Decode(a sms.Alphabet, header bool, b []byte) (string, bool) {
	text, ok := Append(nil, a, header, b)
	return string(text), ok
}

// Append appends a text to dst as UTF-8. header means that the text begins with a user data header (3GPP TS 23.040 §9.2.3.24).
// It is skipped, but its languages count. Append reports false for octets that are not a text in their alphabet.
//
// Unpacked GSM 7-bit has no octets above 0x7F, so a text with such octets is read as Latin-1, which many peers send as their
// default. A text marked as ASCII may also be Latin-1, but not the other way round.
func Append(dst []byte, a sms.Alphabet, header bool, b []byte) ([]byte, bool) {
	var h userdata.Header
	var head []byte
	if header {
		var ok bool
		if head, b, ok = userdata.Cut(b); !ok {
			return dst, false
		}
		h, _ = userdata.Parse(head) // without a valid header the text can still be read
	}
	c, ok := CharsetOf(a)
	switch {
	case !ok, c.Coding == charset.UCS2 && len(b)%2 != 0:
		return dst, false
	case a == sms.Default && slices.ContainsFunc(b, func(c byte) bool { return c > 0x7F }):
		c.Coding = charset.Latin1
	case c.Coding == charset.ASCII:
		c.Coding = charset.Latin1
	case c.Coding == charset.Packed && len(head) > 0:
		b = Unpack(nil, head, b)
		c.Coding = charset.GSM7
	}
	dst, _ = h.Charset(c).Decode(dst, b)
	return dst, true
}

// Unpack appends the septets of a packed text that follows a user data header.
func Unpack(dst, header, packed []byte) []byte {
	fill := charset.FillBits(len(header))
	return charset.AppendUnpacked(dst, packed, fill, charset.PackedSeptets(packed, fill))
}

// CharsetOf returns the charset of texts in an alphabet. It returns false if the alphabet is unknown, or not for texts.
func CharsetOf(a sms.Alphabet) (charset.Charset, bool) {
	var c charset.Charset
	switch a {
	case sms.Default:
	case sms.DefaultPacked:
		c.Coding = charset.Packed
	case sms.ASCII, sms.DefaultASCII:
		c.Coding = charset.ASCII
	case sms.Latin1, sms.DefaultLatin1:
		c.Coding = charset.Latin1
	case sms.UCS2, sms.DefaultUCS2:
		c.Coding = charset.UCS2
	case sms.DefaultUTF8:
		c.Coding = charset.UTF8
	case sms.Cyrillic:
		c.Coding = charset.Cyrillic
	case sms.Hebrew:
		c.Coding = charset.Hebrew
	default:
		return c, false
	}
	return c, true
}

// Encode converts a text from UTF-8 like a sender with the default alphabet a: to a, or to UCS-2 if a lacks a character.
func Encode(a sms.Alphabet, text string) (sms.Alphabet, []byte) {
	cs, _ := CharsetOf(a)
	octets, loss := cs.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		a = sms.UCS2
		octets, _ = charset.Charset{Coding: charset.UCS2}.Encode(nil, []byte(text), charset.Replace)
	}
	return a, octets
}
