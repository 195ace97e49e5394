package userdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"pmg/sms/charset"
)

// Information elements (3GPP TS 23.040 §9.2.3.24). The comments describe their contents.
const (
	concat8  = 0x00 // reference, total, number
	ports8   = 0x04 // destination, source
	ports16  = 0x05 // the same in two octets each
	concat16 = 0x08 // reference in two octets, total, number
	single   = 0x24 // language
	locking  = 0x25 // language
)

// Sizes of headers and elements in octets.
const (
	lengthOctets   = 1 // octets at the beginning of a header, which contain the length of the rest
	elementHeader  = 2 // identifier and length
	concat8Octets  = elementHeader + 3
	concat16Octets = elementHeader + 4
	maxHeader      = 255 // without the length octet
)

// ErrMalformed is the error for a user data header that cannot be read.
var ErrMalformed = errors.New("user data header is malformed")

// A Part identifies a message as one part of a long message. The zero Part is a message that is whole.
type Part struct {
	Reference uint16 // the same in all parts of a message
	Number    uint8  // from 1
	Total     uint8
	Wide      bool // the reference has 16 bits; 8 and 5 in 8 bits are different from 8 and 5 in 16 bits
}

// Valid reports whether the number of the part is within the total. A message with an invalid Part is treated
// as whole (§9.2.3.24.1).
func (p Part) Valid() bool { return p.Number > 0 && p.Number <= p.Total }

// A Header is the part of a user data header that the gateway understands.
type Header struct {
	Part    Part // zero if the message is whole
	Locking charset.Language
	Single  charset.Language
}

// Cut divides user data that begins with a header into the header with its length octet,
// and the text. It reports false if the header is longer than the user data.
func Cut(userData []byte) (header, text []byte, ok bool) {
	if len(userData) == 0 || int(userData[0])+lengthOctets > len(userData) {
		return nil, nil, false
	}
	n := int(userData[0]) + lengthOctets
	return userData[:n:n], userData[n:], true
}

// Elements walks the information elements of a header, which Parse has accepted. It stops at a truncated element.
func Elements(header []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for b := header[min(len(header), lengthOctets):]; len(b) >= elementHeader; {
			id, n := b[0], elementHeader+int(b[1])
			if n > len(b) || !yield(id, b[elementHeader:n:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// Parse parses a header with its length octet. If an element occurs twice, the last one counts. Unknown elements and an
// invalid Part are ignored. Errors wrap ErrMalformed.
func Parse(header []byte) (h Header, err error) {
	if len(header) == 0 || len(header) != lengthOctets+int(header[0]) {
		return h, fmt.Errorf("cannot read a header of %d octets: %w", len(header), ErrMalformed)
	}
	read := lengthOctets
	for id, v := range Elements(header) {
		read += elementHeader + len(v)
		if want := sizeOf(id); want >= 0 && len(v) != want {
			return Header{}, fmt.Errorf("cannot read element 0x%02x of %d octets: %w", id, len(v), ErrMalformed)
		}
		h.set(id, v)
	}
	if read != len(header) {
		return Header{}, fmt.Errorf("cannot read the element at octet %d: %w", read, ErrMalformed)
	}
	return h, nil
}

// sizeOf returns the length of an element, -1 for an unknown element.
func sizeOf(id byte) int {
	switch id {
	case concat8:
		return 3
	case concat16, ports16:
		return 4
	case ports8:
		return 2
	case single, locking:
		return 1
	}
	return -1
}

func (h *Header) set(id byte, v []byte) {
	switch id {
	case concat8:
		h.setPart(Part{Reference: uint16(v[0]), Total: v[1], Number: v[2]})
	case concat16:
		h.setPart(Part{Reference: binary.BigEndian.Uint16(v), Total: v[2], Number: v[3], Wide: true})
	case single:
		h.Single = charset.Language(v[0])
	case locking:
		h.Locking = charset.Language(v[0])
	}
}

func (h *Header) setPart(p Part) {
	if p.Valid() {
		h.Part = p
	}
}

// Charset returns c with the header's languages, if it is a GSM 7-bit charset.
func (h *Header) Charset(c charset.Charset) charset.Charset {
	if c.Coding == charset.GSM7 || c.Coding == charset.Packed {
		c.Locking, c.Single = h.Locking, h.Single
	}
	return c
}

// AppendHeader appends a header to dst: the elements of another header, if it is not nil, except its part, and p unless it is
// zero. Without any element it appends nothing. It reports false if the elements do not fit into a header.
func AppendHeader(dst, header []byte, p Part) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, 0)
	switch {
	case p == Part{}:
	case p.Wide:
		dst = append(dst, concat16, 4, byte(p.Reference>>8), byte(p.Reference), p.Total, p.Number)
	default:
		dst = append(dst, concat8, 3, byte(p.Reference), p.Total, p.Number)
	}
	for id, v := range Elements(header) {
		if id != concat8 && id != concat16 {
			dst = append(append(dst, id, byte(len(v))), v...)
		}
	}
	return closeHeader(dst, start)
}

// AppendShifted appends a header to dst that has the languages of a charset: the elements of another header except its
// languages, and those of c. Without any element it appends nothing. It reports false if the elements do not fit into a
// header.
func AppendShifted(dst, header []byte, c charset.Charset) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, 0)
	for id, v := range Elements(header) {
		if id != single && id != locking {
			dst = append(append(dst, id, byte(len(v))), v...)
		}
	}
	if c.Single != charset.NoLanguage {
		dst = append(dst, single, 1, byte(c.Single))
	}
	if c.Locking != charset.NoLanguage {
		dst = append(dst, locking, 1, byte(c.Locking))
	}
	return closeHeader(dst, start)
}

// closeHeader fills in the length of a header that begins at start.
func closeHeader(dst []byte, start int) ([]byte, bool) {
	n := len(dst) - start - lengthOctets
	if n == 0 || n > maxHeader {
		return dst[:start], n == 0
	}
	dst[start] = byte(n)
	return dst, true
}

// IsLanguage reports whether an information element names a national language.
func IsLanguage(id byte) bool { return id == single || id == locking }
