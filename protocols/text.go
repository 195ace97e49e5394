package protocols

import "pmg/sms"

// A Text is the text of a message as it stands in a PDU.
type Text struct {
	Field    string // its name in the pdu log: "short_message"
	Octets   []byte // they lie in the PDU
	Alphabet sms.Alphabet
	Header   bool // it begins with a user data header
}
