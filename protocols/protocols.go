// Package protocols is what a protocol driver offers the gateway.
//
// A driver is pure: it sees bytes and gives PDUs, sees PDUs and gives bytes, and
// runs the state of a session. It never sees a socket, a clock of its own, a
// goroutine or another protocol. The stages (and the classic architecture) call
// it; cmd/pmg is the only place that knows which drivers exist.
//
// # Start reading
//
// Driver, then Session, then Action.
package protocols

import "pmg/sms"

// The protocols, by the numbers that messages keep for their native parts.
const (
	SMPP sms.Protocol = 1
	UCP  sms.Protocol = 2
)

// A Driver is one protocol, with the options of one connector. It is safe for
// concurrent use.
type Driver interface {
	// Name is the protocol's name in the configuration: "smpp".
	Name() string
	// Commands names the PDUs, by PDU.Command.
	Commands() []string
	// StatusName gives the field's standard name of a status: "ESME_RTHROTTLED".
	StatusName(status uint32) string
	// NewPDU returns an empty PDU, to be filled and refilled.
	NewPDU() PDU
	// Frame tells how many bytes the PDU that begins b takes. When that is more
	// than len(b), the collector waits for that many and asks again, so a driver
	// may first ask for a header. An error means that framing is lost: the
	// collector then calls Decode with what it has and reads no more.
	Frame(b []byte) (int, error)
	// Decode reads the one PDU that fills b. The PDU's fields point into b. An
	// error is also kept in the PDU, so that the session can answer it.
	Decode(p PDU, b []byte) error
	// ParseLog reads what PDU.AppendLog printed. The PDU's fields may point into line.
	ParseLog(p PDU, line []byte) error
	// NewSession begins the state of one connection.
	NewSession(o SessionOptions) Session
}

// A PDU is one protocol data unit as the protocol's own fields.
type PDU interface {
	// Command is the row of Driver.Commands.
	Command() int
	// Status is the result an answer carries; 0 in a request.
	Status() uint32
	// Sequence pairs a request and its answer.
	Sequence() uint32
	// AppendWire appends the PDU as it stands on the wire.
	AppendWire(b []byte) []byte
	// AppendLog appends the PDU as the pdu log prints it, without a line end:
	// command, sequence, status, then fields by their standard names. With text
	// false, message texts are replaced by their lengths. Passwords never appear.
	AppendLog(b []byte, text bool) []byte
	// Reset readies the PDU for its next use, and lets go of the bytes it points into
	// where these are many.
	Reset()
}

// SessionOptions is what a session must know about its side. Durations are in
// nanoseconds; 0 switches that timer off.
type SessionOptions struct {
	Client          bool   // we connected and log in; otherwise the peer does
	Name            string // what we call ourselves when a client logs in
	SystemID        string // what we log in as
	Password        string
	SystemType      string
	Bind            BindType
	AddressRange    string
	BindTimeout     int64 // from connect to login done
	EnquireInterval int64 // silence after which the peer is asked whether it lives
	ResponseTimeout int64 // for answers to the session's own requests
	IdleMax         int64 // time without a message after which the session logs out
}

// A BindType tells which way messages may flow in a session.
type BindType uint8

// The bind types. For the client of a session: may send, may receive, both.
const (
	Transmitter BindType = 1 + iota
	Receiver
	Transceiver
)

// CanSubmit tells whether the client may submit messages.
func (b BindType) CanSubmit() bool { return b&Transmitter != 0 }

// CanReceive tells whether the client may be given messages.
func (b BindType) CanReceive() bool { return b&Receiver != 0 }

// String is the bind type's name in the configuration.
func (b BindType) String() string {
	return [...]string{"none", "transmitter", "receiver", "transceiver"}[b&3]
}

// A Session is the state machine of one connection. Receive, Tick, Login,
// Answer and Unbind are called by one goroutine at a time (the builder);
// Start before any of them, Encode by another single goroutine (the encoder),
// concurrently with them. Times are Unix nanoseconds.
type Session interface {
	// Start begins the session. A client session fills p with its login and
	// returns Send; a server session returns None and waits.
	Start(now int64, p PDU) Action
	// Receive takes a PDU that the peer sent and tells what follows. When it
	// returns Send or SendClose, p has become the answer.
	Receive(now int64, p PDU) Action
	// Tick is called now and then. It fills p when it returns Send.
	Tick(now int64, p PDU) Action
	// Login ends the wait that an Action of kind Login began: p, the request,
	// becomes its answer.
	Login(now int64, p PDU, code sms.Code) Action
	// Message fills m from p after an Action of kind Message; m keeps nothing of p.
	// A code other than OK says that the request is to be refused with it.
	Message(now int64, p PDU, m *sms.Message) sms.Code
	// Answer turns p, a request that carried a message, into its answer. id is the
	// message's, used when code is OK.
	Answer(p PDU, code sms.Code, id uint64)
	// Encode fills p with the request that carries m to the peer, with the given
	// sequence. p's slices point into m.
	Encode(now int64, p PDU, m *sms.Message, sequence uint32)
	// NextSequence gives the next sequence number for a request of ours. It may
	// be called from any goroutine.
	NextSequence() uint32
	// Unbind fills p with a logout request and returns Send, or Close where there
	// is nobody to log out from.
	Unbind(now int64, p PDU) Action
	// Bound tells how the session is logged in; 0 while it is not. It may be
	// called from any goroutine.
	Bound() BindType
}

// An ActionKind says what a session wants.
type ActionKind uint8

// The kinds of action.
const (
	None      ActionKind = iota // nothing
	Send                        // send the PDU
	SendClose                   // send the PDU, then close
	Close                       // close
	Login                       // check Action.Credentials, then call Session.Login
	Bound                       // our login was accepted
	Message                     // the PDU carries a message: call Session.Message, later Session.Answer
	Answered                    // the peer answered our request Action.Sequence with Action.Code
)

// An Action is what a session wants done.
type Action struct {
	Kind     ActionKind
	Sequence uint32   // Answered: of the request
	Code     sms.Code // Answered: its result
	Status   uint32   // Answered: the protocol's own value of the result
	ID       []byte   // Answered: the peer's id of the message; lies in the PDU
	Reason   string   // Close, SendClose: why, for the log: "cannot hear from peer: …"

	Credentials Credentials // Login
}

// Credentials is what a client logs in with; the slices lie in the PDU.
type Credentials struct {
	SystemID, Password []byte
	SystemType         []byte
	Bind               BindType
	Version            uint8
}
