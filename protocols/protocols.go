// Package protocols defines the interfaces between protocol drivers and the gateway.
//
// A driver has no side effects. It decodes and encodes PDUs, and runs the state machine of a session. A
// driver uses no socket, no clock, no goroutine and no other protocol. The stages call drivers. Only programs
// create drivers.
//
// # Start reading
//
// Driver, then Session (session.go), then Action.
package protocols

import (
	"errors"

	"pmg/sms"
	"pmg/sms/userdata"
)

// The numbers of the protocols in the native parts of messages.
const (
	SMPP sms.Protocol = 1
	UCP  sms.Protocol = 2
	HTTP sms.Protocol = sms.WithContext
	Test sms.Protocol = 4
)

// A Driver implements one protocol. It is safe for concurrent use.
type Driver interface {
	Vocabulary
	Converter
	// NewPDU returns an empty PDU, which can be used many times.
	NewPDU() PDU
	// ParseLog parses the output of PDU.AppendLog. The PDU's fields may point into line.
	// An error that wraps ErrHidden means that the line does not hold all octets.
	ParseLog(p PDU, line []byte) error
}

// A SessionDriver is the Driver of a protocol whose peers log in on a connection and stay.
type SessionDriver interface {
	Driver
	Codec
	// NewSession returns the session of a new connection.
	NewSession(o SessionOptions) Session
}

// A RequestDriver is the Driver of a protocol whose requests stand alone, each with its login. Requests that it fully
// understands are the PDUs of a session, which is the connection. All other requests are left to a general server, which gets the
// connection with all octets from the first such request on.
type RequestDriver interface {
	Driver
	// NewRequests returns the session of a new connection.
	NewRequests(o SessionOptions) Requests
}

// Requests is the Session of a connection of requests. Its Codec may be called by another goroutine than its other methods.
type Requests interface {
	Session
	Codec
	// Unread returns, of the octets behind the last request that was decoded, those that the general server reads. No other
	// method is called afterwards.
	Unread(b []byte) []byte
}

// ErrForeign is returned by the Codec of Requests for octets that are left to the general server.
var ErrForeign = errors.New("for the general server")

// A PartNamer is a Driver whose protocol has a field that identifies a message as a part of a long message.
// The field is in the native part of messages.
type PartNamer interface {
	// Part returns the part of a long message that a message is. It returns false if the message does not name a part.
	Part(m *sms.Message) (userdata.Part, bool)
	// SetPart writes the field of the part into a message. The zero Part marks the message as whole.
	SetPart(m *sms.Message, p userdata.Part)
}

// A Vocabulary returns the names of a protocol.
type Vocabulary interface {
	// Name returns the protocol's name in the configuration: "smpp".
	Name() string
	// Commands returns the names of the PDUs, indexed by PDU.Command.
	Commands() []string
	// StatusName returns the standard name of a status, such as "ESME_RTHROTTLED".
	StatusName(status uint32) string
}

// A Glossary is a Driver that can explain its statuses.
type Glossary interface {
	// Meaning returns the meaning of a status, including whether the refused request may be sent again. It is
	// empty for a status without a name.
	Meaning(status uint32) string
}

// A Codec makes PDUs from octets. The opposite direction is in PDU.
type Codec interface {
	// Frame returns the length of the PDU at the beginning of b. If that is more than
	// len(b), the caller waits for as many octets and calls Frame again, so a driver may
	// ask for a header first. In a protocol that finds the next PDU after octets that
	// belong to none, such octets are a PDU that Decode refuses. An error means that framing is lost: the caller then calls
	// Decode with the octets that it has and reads no more.
	Frame(b []byte) (int, error)
	// Decode decodes the one PDU that fills b. The PDU's fields point into b. The PDU
	// also keeps the error, so that the session can answer it.
	Decode(p PDU, b []byte) error
}

// A PDU is one protocol data unit, with the fields of its protocol.
type PDU interface {
	Header
	// MessageID returns the peer's message id in an answer to our message, or nil if there is none. The slice
	// points into the PDU.
	MessageID() []byte
	// Text returns the text of the message in the PDU. It returns false if there is none.
	Text() (Text, bool)
	// LoginStep returns the role of the PDU in a login.
	LoginStep() LoginStep
	// AppendWire appends the PDU in wire format.
	AppendWire(b []byte) []byte
	// AppendLog appends the PDU as the pdu log prints it, without a line end:
	// command, sequence, status, then fields by their standard names. With full
	// false, message texts and octets of unknown meaning are replaced by their
	// lengths. Passwords never appear.
	AppendLog(b []byte, full bool) []byte
	// Reset prepares the PDU for its next use. If the octets that the PDU points into are
	// many, it drops the references to them.
	Reset()
}

// A Pair is a PDU of Requests, which still has the request when it has become the answer.
type Pair interface {
	// Request returns the request, for the pdu log alone.
	Request() PDU
	// Credentials returns the login of the request.
	Credentials() Credentials
	// Last reports whether the connection is closed after the answer.
	Last() bool
}

// A LoginStep is the role of a PDU in a login.
type LoginStep uint8

// The steps.
const (
	NoLogin       LoginStep = iota
	LoginRequest            // a valid request to log in
	LoginAccepted           // an answer that accepts a login
)

// A Header holds the properties of every PDU of every protocol.
type Header interface {
	// Command returns the index of the PDU's name in Vocabulary.Commands.
	Command() int
	// Status returns the result in an answer, or 0 for a request.
	Status() uint32
	// Sequence returns the number that pairs a request and its answer.
	Sequence() uint32
	// IsAnswer reports whether the PDU answers a request.
	IsAnswer() bool
}
