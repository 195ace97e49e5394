package protocols

import "pmg/sms"

// A Text is the text of a message in a PDU.
type Text struct {
	Field    string // name of the field in the pdu log: "short_message"
	Octets   []byte // octets of the text, which are a part of the PDU
	Alphabet sms.Alphabet
	Header   bool // the text begins with a user data header
}
