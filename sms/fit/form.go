package fit

import (
	"pmg/sms"
	"pmg/sms/charset"
)

// A Form describes the texts that a peer accepts.
type Form struct {
	Default   sms.Alphabet      // the peer's default alphabet
	ASCII     sms.Alphabet      // the alphabet that the peer means by ASCII
	Takes     sms.Alphabets     // alphabets of texts that the peer gets unchanged
	Reads     sms.Alphabets     // alphabets that the peer can read: those in Takes, and targets of conversions
	Languages charset.Languages // languages whose tables the peer's texts may use
	Missing   Missing
	Long      Long
	Most      int // octets of text, without a header, that fit into a message of the protocol; 0: any number
}

// HasRoom reports whether the text of a message fits into one message of the protocol without splitting.
func (f *Form) HasRoom(m *sms.Message) bool {
	text := m.Text()
	n := len(text)
	if m.Flags&sms.HasHeader != 0 && n > 0 {
		n -= min(n, 1+int(text[0]))
	}
	return f.Most == 0 || n <= f.Most
}

// Missing is the treatment of a text with characters that an alphabet lacks.
type Missing uint8

// The values of Missing.
const (
	UseUCS2       Missing = iota // the text is sent in UCS-2
	Transliterate                // similar characters are written; a text with other characters is sent in UCS-2
	Refuse                       // the message is refused
)

// Long is the treatment of a text that is too long for one short message.
type Long uint8

// The values of Long.
const (
	Pass     Long = iota // a long text is sent unchanged
	Split8               // a long text is split into parts with an 8-bit reference in the headers
	Split16              // a long text is split into parts with a 16-bit reference in the headers
	SplitSAR             // a long text is split into parts, which a field of the protocol numbers
	Payload              // a long text is sent whole, in the protocol's field for long texts
	Join                 // a long text is sent unchanged, and parts that came are joined first
	Auto                 // as Split8 for messages that clients submit by HTTP, otherwise as Pass
)

// An EncodeAs selects, among the alphabets that a peer reads, the alphabet of a text.
type EncodeAs uint8

// The values of EncodeAs.
const (
	Keep       EncodeAs = iota // a text stays in its alphabet
	AsDefault                  // ASCII and Latin-1 become the default alphabet
	AsShortest                 // ASCII, Latin-1 and UCS-2 become the default alphabet, if the latter has all characters
	AsUCS2                     // all texts are sent in UCS-2
)

// New returns the form of a peer with a default alphabet, whose protocol can also name the alphabets others.
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
