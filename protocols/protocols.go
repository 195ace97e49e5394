// Package protocols is what a protocol driver offers the gateway.
//
// A driver is pure. It makes PDUs of bytes and bytes of PDUs, and runs the state of
// a session. It never sees a socket, a clock of its own, a goroutine or another
// protocol. The stages (and the classic architecture) call it; cmd/pmg is the only
// place that makes drivers.
//
// # Start reading
//
// Driver, then Session (session.go), then Action.
package protocols

import "pmg/sms"

// SMPP is the number that messages keep for their native parts. Each protocol has one.
const SMPP sms.Protocol = 1

// A Driver is one protocol. It is safe for concurrent use.
type Driver interface {
	Vocabulary
	Codec
	// NewSession begins the state of one connection.
	NewSession(o SessionOptions) Session
}

// A Vocabulary is the names that a protocol uses.
type Vocabulary interface {
	// Name returns the protocol's name in the configuration: "smpp".
	Name() string
	// Commands returns the names of the PDUs, indexed by PDU.Command.
	Commands() []string
	// StatusName returns the standard name of a status, as in "ESME_RTHROTTLED".
	StatusName(status uint32) string
}

// A Codec makes PDUs of bytes and of log lines. PDUs turn themselves back.
type Codec interface {
	// NewPDU returns an empty PDU, to be filled and refilled.
	NewPDU() PDU
	// Frame returns how many bytes the PDU at the beginning of b takes. If that is
	// more than len(b), the collector waits for so many bytes and calls Frame
	// again, so that a driver may ask for a header first. An error means that
	// framing is lost: the collector then calls Decode with what it has and reads
	// no more.
	Frame(b []byte) (int, error)
	// Decode reads the one PDU that fills b. The PDU's fields point into b. The PDU
	// keeps the error too, so that the session can answer it.
	Decode(p PDU, b []byte) error
	// ParseLog reads what PDU.AppendLog printed. The PDU's fields may point into line.
	// An error that wraps ErrHidden says that octets are missing in the line.
	ParseLog(p PDU, line []byte) error
}

// A PDU is one protocol data unit as the protocol's own fields.
type PDU interface {
	Header
	// MessageID returns the message id that the peer gave in an answer to a message
	// of ours, and nil if there is none. It lies in the PDU.
	MessageID() []byte
	// Text returns the text of the message in the PDU. It reports false if there is none.
	Text() (Text, bool)
	// LoginStep returns what the PDU is in a login.
	LoginStep() LoginStep
	// AppendWire appends the PDU as it stands on the wire.
	AppendWire(b []byte) []byte
	// AppendLog appends the PDU as the pdu log prints it, without a line end:
	// command, sequence, status, then fields by their standard names. With full
	// false, message texts and octets of unknown meaning are replaced by their
	// lengths. Passwords never appear.
	AppendLog(b []byte, full bool) []byte
	// Reset readies the PDU for its next use. It drops the bytes that the PDU points
	// into if these are many.
	Reset()
}

// A LoginStep is what a PDU is in a login.
type LoginStep uint8

// The steps.
const (
	NoLogin       LoginStep = iota
	LoginRequest            // a request to log in that can be read
	LoginAccepted           // the answer that accepts one
)

// A Header is what every PDU of every protocol has.
type Header interface {
	// Command returns the index of the PDU's name in Vocabulary.Commands.
	Command() int
	// Status returns the result that an answer carries, and 0 for a request.
	Status() uint32
	// Sequence returns the number that pairs a request and its answer.
	Sequence() uint32
	// IsAnswer reports whether the PDU answers a request.
	IsAnswer() bool
}
