package loadtest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
)

// A Coding is what the octets of a text mean.
type Coding uint8

// The codings. The others are filled with characters that are easily lost on the way.
const (
	PlainCoding  Coding = iota // GSM 7-bit, filled with the letter x
	GSMCoding                  // GSM 7-bit, every character and the euro sign
	UCS2Coding                 // UTF-16, with characters outside the BMP
	BinaryCoding               // every octet
	otherCoding                // of a message that was received
)

// Codings returns the names of the codings, by coding.
func Codings() []string { return []string{"plain", "gsm", "ucs2", "binary"} }

// ParseCoding returns the coding with that name.
func ParseCoding(name string) (Coding, error) {
	for c, n := range Codings() {
		if n == name {
			return Coding(c), nil
		}
	}
	return 0, fmt.Errorf("cannot write texts as %q: use %s", name, strings.Join(Codings(), ", "))
}

// wire returns the coding that a message says it has.
func (c Coding) wire() Coding {
	if c == PlainCoding {
		return GSMCoding
	}
	return c
}

// A Content is what the messages of a load contain. A sink that is given the same finds
// messages whose octets have changed on the way.
type Content struct {
	Size   int    // octets of text, without a header
	Text   string // behind the number, of PlainCoding
	Coding Coding
	Parts  int // long messages of that many parts, each of which has a number; 0 and 1: none
}

// userDataHeader is how long the header of a part is, with its length.
const userDataHeader = 6

const maxParts = 255

func (c *Content) check() error {
	least, most := numberLength+len(c.Text), maxSize
	if c.Coding == UCS2Coding {
		least *= 2
	}
	if c.isLong() {
		most -= userDataHeader
	}
	switch {
	case c.Text != "" && c.Coding != PlainCoding:
		return fmt.Errorf("a text of your own needs coding plain, not %s", Codings()[c.Coding])
	case c.Size < least || c.Size > most:
		return fmt.Errorf("the size must be %d to %d, not %d", least, most, c.Size)
	case c.Coding == UCS2Coding && c.Size%2 != 0:
		return fmt.Errorf("the size must be even with coding ucs2, not %d", c.Size)
	case c.Parts < 0 || c.Parts > maxParts:
		return fmt.Errorf("a long message has at most %d parts, not %d", maxParts, c.Parts)
	}
	return nil
}

func (c *Content) isLong() bool { return c.Parts > 1 }

// octets returns the octets of a text, with 0 for the number. In UTF-16 and GSM they are
// unpacked.
func (c *Content) octets() []byte {
	number := fmt.Appendf(nil, "#%0*d ", numberDigits, 0)
	var b []byte
	switch c.Coding {
	case PlainCoding:
		b = append(number, c.Text...)
		return append(b, bytes.Repeat([]byte{'x'}, c.Size-len(b))...)
	case BinaryCoding:
		for b = number; len(b) < c.Size; {
			b = append(b, byte(len(b)*7))
		}
		return b
	case UCS2Coding:
		const characters = "åЖ中😀"
		text := utf16.Encode([]rune(string(number) + strings.Repeat(characters, c.Size)))[:c.Size/2]
		if utf16.IsSurrogate(rune(text[len(text)-1])) && text[len(text)-1] < 0xDC00 {
			text[len(text)-1] = 'x' // half a character
		}
		for _, unit := range text {
			b = append(b, byte(unit>>8), byte(unit))
		}
		return b
	}
	const escape, euro = 0x1B, 0x65
	b = number
	for c0 := byte(0); len(b) < c.Size; c0 = (c0 + 1) % 128 {
		switch {
		case c0 != escape:
			b = append(b, c0)
		case len(b)+2 <= c.Size:
			b = append(b, escape, euro)
		}
	}
	return b
}

// step is how many octets a character of a number takes; the last one differs.
func (c *Content) step() int {
	if c.Coding == UCS2Coding {
		return 2
	}
	return 1
}

// header returns the user data header of the part with that number, nil if messages are not
// long ones.
func (c *Content) header(b []byte, number int64) []byte {
	if !c.isLong() {
		return b
	}
	parts := int64(c.Parts)
	return append(b, 5, 0, 3, byte(number/parts), byte(parts), byte(number%parts+1))
}

// destination returns the number that the destination ends with: the parts of a message have
// the same.
func (c *Content) destination(number int64) int64 {
	if c.isLong() {
		return number / int64(c.Parts)
	}
	return number
}

// A contentCheck finds messages whose content has changed.
type contentCheck struct {
	content Content
	octets  []byte
	header  []byte
}

func newContentCheck(c *Content) *contentCheck {
	return &contentCheck{content: *c, octets: c.octets()}
}

// matches reports whether a message is what the load has sent with that number.
func (c *contentCheck) matches(m *submitted, number int64) bool {
	var digits [numberDigits]byte
	putDigits(digits[:], number)
	step := c.content.step()
	for i, d := range digits {
		c.octets[(i+2)*step-1] = d
	}
	c.header = c.content.header(c.header[:0], number)
	return m.coding == c.content.Coding.wire() && bytes.Equal(m.octets, c.octets) && bytes.Equal(m.header, c.header)
}

// textOf returns the characters of a text that are in ASCII, for numbers and orders.
func textOf(room, octets []byte, coding Coding) []byte {
	switch {
	case coding == UCS2Coding:
		for i := 1; i < len(octets); i += 2 {
			room = append(room, octets[i])
		}
		return room
	case coding != GSMCoding || bytes.IndexByte(octets, 0x1B) < 0:
		return octets
	}
	return appendGSMText(room, octets)
}
