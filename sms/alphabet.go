package sms

// An Alphabet defines how the octets of a text encode characters. The alphabet is a property of the message,
// whichever peer the message goes to.
//
// Peers mean different things by their default alphabet. For most of them it is GSM 7-bit with an octet for
// each septet, and this is what Default means in a message, whatever the default of the peer that it came
// from. If that peer's default is another alphabet, the message gets one of the alphabets whose names begin
// with Default. A driver writes each of these as the peer's default: a message whose default differs from the
// peer's was converted before.
type Alphabet uint8

// The alphabets. The numbers are part of stored messages, so their meaning never changes.
const (
	Default Alphabet = iota // GSM 7-bit (3GPP TS 23.038), an octet for each septet
	ASCII                   // IA5
	Latin1                  // ISO 8859-1
	UCS2                    // UTF-16, most significant octet first
	Binary                  // octets that are no text
	Other                   // a coding that only a peer of the same protocol understands

	DefaultPacked // GSM 7-bit, eight septets in seven octets
	DefaultASCII
	DefaultLatin1
	DefaultUCS2
	DefaultUTF8

	Cyrillic // ISO 8859-5
	Hebrew   // ISO 8859-8

	LastAlphabet = Hebrew
)

// IsDefault reports whether the alphabet is the default of some peer.
func (a Alphabet) IsDefault() bool { return a == Default || a >= DefaultPacked && a <= DefaultUTF8 }

// Alphabets is a set of alphabets.
type Alphabets uint16

// NewAlphabets returns the set of some alphabets.
func NewAlphabets(all ...Alphabet) (s Alphabets) {
	for _, a := range all {
		s |= 1 << a
	}
	return s
}

// Has reports whether the set has the alphabet.
func (s Alphabets) Has(a Alphabet) bool { return s&(1<<a) != 0 }
