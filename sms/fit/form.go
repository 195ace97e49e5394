package fit

import (
	"pmg/sms"
	"pmg/sms/charset"
)

// A Form is how a peer takes texts.
type Form struct {
	Default   sms.Alphabet      // what the peer's default alphabet is
	ASCII     sms.Alphabet      // what it means where it says ASCII
	Takes     sms.Alphabets     // texts that it is sent as they are
	Reads     sms.Alphabets     // texts that it understands: these, and what others become
	Languages charset.Languages // whose tables its texts may have
	Missing   Missing
	Long      Long
	Most      int // octets of text, without a header, that a message of the protocol has room for; 0: any
}

// HasRoom reports whether the text of a message that is not split can be sent.
func (f *Form) HasRoom(m *sms.Message) bool {
	text := m.Text()
	n := len(text)
	if m.Flags&sms.HasHeader != 0 && n > 0 {
		n -= min(n, 1+int(text[0]))
	}
	return f.Most == 0 || n <= f.Most
}

// Missing says what becomes of a text that has characters which an alphabet lacks.
type Missing uint8

// The values of Missing.
const (
	UseUCS2       Missing = iota // it is sent in UCS-2
	Transliterate                // similar characters are written; where there are none, it is sent in UCS-2
	Refuse                       // it is refused
)

// Long says what becomes of a text that is too long for one short message.
type Long uint8

// The values of Long.
const (
	Pass     Long = iota // it is sent as it is
	Split8               // it is cut into parts, with a reference of 8 bits in their headers
	Split16              // it is cut into parts, with a reference of 16 bits in their headers
	SplitSAR             // it is cut into parts, and a field of the protocol says which one each is
	Payload              // it is sent whole, in the protocol's field for long texts
	Join                 // it is sent as it is, and so are texts that came in parts
	Auto                 // as with Split8 if a client has submitted it by HTTP, and else as with Pass
)

// An EncodeAs says which of the alphabets that a peer reads it is sent.
type EncodeAs uint8

// The values of EncodeAs.
const (
	Keep       EncodeAs = iota // a text keeps its alphabet
	AsDefault                  // ASCII and Latin-1 become the default alphabet
	AsShortest                 // and so does UCS-2, if the default alphabet has all its characters
	AsUCS2                     // all texts are sent in UCS-2
)

// New returns the form of a peer with that default alphabet, whose protocol can name the
// others.
func New(byDefault sms.Alphabet, others sms.Alphabets, as EncodeAs) *Form {
	f := &Form{Default: byDefault, ASCII: sms.ASCII}
	ucs2 := sms.NewAlphabets(sms.UCS2)
	octets := others & sms.NewAlphabets(sms.Binary, sms.Other)
	switch own := sms.NewAlphabets(byDefault); as {
	case Keep:
		f.Takes = own | others
		f.Reads = f.Takes
	case AsDefault:
		f.Takes = own | ucs2 | octets
		f.Reads = f.Takes
	case AsShortest:
		f.Takes = own | octets
		f.Reads = f.Takes | ucs2
	case AsUCS2:
		f.Takes = ucs2 | octets
		f.Reads = f.Takes
	}
	return f
}
