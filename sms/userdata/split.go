package userdata

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"pmg/sms/charset"
)

// escape precedes a character of the extension table of GSM 7-bit.
const escape = 0x1B

// MaxParts is the maximum number of parts of a long message, because the number of a part has one octet.
const MaxParts = 255

// ErrTooLong is the error of a text that needs too many parts, or does not fit beside its header.
var ErrTooLong = errors.New("text is too long")

// A Splitter splits the octets of a text into parts. It never splits an escape sequence, a surrogate pair, or a character of
// UTF-8.
type Splitter struct {
	// Coding is the coding of the octets. For GSM7, each octet is a septet. A Packed text is split before packing, as GSM7.
	Coding charset.Coding
	// Header is the header that the text had when it was whole, nil for none. The header of every part
	// contains its elements, except the part element.
	Header []byte
	// Wide selects references of 16 bits, which take another octet of every part.
	Wide bool
}

// Count returns the number of parts: 1 if the text fits into one message. The error is ErrTooLong.
//
// The room is the same if a field of the protocol identifies the part, because the SMSC makes a header from it.
func (s *Splitter) Count(text []byte) (int, error) {
	whole, _ := s.headers()
	if octets := (charset.Charset{Coding: s.Coding}).Room(whole) * s.unit(); len(text) <= octets {
		return 1, nil
	}
	room := s.Room() * s.unit()
	for n := 1; n <= MaxParts; n++ {
		cut := s.cut(text, room)
		if cut == 0 {
			return 0, ErrTooLong
		}
		if text = text[cut:]; len(text) == 0 {
			return n, nil
		}
	}
	return 0, ErrTooLong
}

// Next cuts the next part off a text for which Count has returned more than 1. The part is nil at the end.
func (s *Splitter) Next(text []byte) (part, rest []byte) {
	cut := s.cut(text, s.Room()*s.unit())
	if cut == 0 {
		return nil, text
	}
	return text[:cut:cut], text[cut:]
}

// Room returns the number of text units in a part, as charset.Charset.Room counts units.
func (s *Splitter) Room() int {
	_, part := s.headers()
	return charset.Charset{Coding: s.Coding}.Room(part)
}

// headers returns the octets of the header in a message that is whole, and in a part.
func (s *Splitter) headers() (whole, part int) {
	for id, v := range Elements(s.Header) {
		if id != concat8 && id != concat16 {
			whole += elementHeader + len(v)
		}
	}
	part = lengthOctets + whole + concat8Octets
	if s.Wide {
		part += concat16Octets - concat8Octets
	}
	if whole > 0 {
		whole += lengthOctets
	}
	return whole, part
}

// unit returns the number of octets in a unit of charset.Charset.Room.
func (s *Splitter) unit() int {
	if s.Coding == charset.UCS2 {
		return 2
	}
	return 1
}

// cut returns the number of octets of the text that fit into a part with room octets. It is 0 only if the
// text is empty, or a character does not fit.
func (s *Splitter) cut(text []byte, room int) int {
	if len(text) <= room {
		return len(text)
	}
	if room == 0 {
		return 0
	}
	switch s.Coding {
	case charset.GSM7, charset.Packed:
		escapes := 0
		for escapes < room && text[room-1-escapes] == escape {
			escapes++
		}
		return room - escapes%2 // two escapes form a pair, too
	case charset.UCS2:
		before := rune(text[room-2])<<8 | rune(text[room-1])
		if len(text) >= room+2 && utf16.DecodeRune(before, rune(text[room])<<8|rune(text[room+1])) != utf8.RuneError {
			return room - 2
		}
	case charset.UTF8:
		return cutUTF8(text, room)
	}
	return room
}

// cutUTF8 cuts before a character. Octets that are not UTF-8 are cut anywhere.
func cutUTF8(text []byte, room int) int {
	for back := range min(utf8.UTFMax, room) {
		at := room - back
		if utf8.RuneStart(text[at]) {
			if _, n := utf8.DecodeRune(text[at:]); back == 0 || n > back {
				return at
			}
			break
		}
	}
	return room
}
