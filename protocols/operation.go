package protocols

import "pmg/sms"

// An OperationKind is the kind of a client's request about messages that it has submitted.
type OperationKind uint8

// The kinds of operation.
const (
	Query   OperationKind = iota // where a message is
	Cancel                       // not to send a message, or all messages to a destination
	Replace                      // to send a message with another text or at other times
)

// String returns the kind's name in logs.
func (k OperationKind) String() string {
	return [...]string{"query", "cancel", "replace"}[k]
}

// An Operation is a request of a client about messages that it has submitted. Its slices and
// functions use the PDU that carried it, which must not change until it is answered.
type Operation struct {
	Kind OperationKind

	// ID is the id by which the client knows the message, or 0: Cancel is then about all messages from Source
	// to Dest. If Modulo is not 0, ID is only the remainder of the id, and the operation is about the latest
	// message with that remainder.
	ID, Modulo uint64

	// Source is the sender of the messages, and Dest their recipient; nil means any address. Addresses are
	// compared without their types. With ByID only the id counts.
	Source, Dest sms.Address
	ByID         bool

	// Fits reports whether a message matches those fields of the operation that only its protocol knows. Nil
	// means that there are no such fields.
	Fits func(m *sms.Message) bool
	// Change applies a Replace to a message, at the time now by the clock of the message's times. With a code
	// other than OK the message is unchanged.
	Change func(now int64, m *sms.Message) sms.Code
}

// A Result is the result of a successful operation.
type Result struct {
	ID    uint64    // id of the message, as the client knows it
	State sms.State // Query
	Since int64     // Query: time of the message's final State, in Unix nanoseconds; 0: no final State, or not known
	Error uint8     // Query: the network's error; 0: none
}

// Operations handles requests about messages that were submitted before.
type Operations interface {
	// Operation returns the operation in p after an Action of kind Operate. If the code is
	// not OK, the request must be refused with it.
	Operation(now int64, p PDU) (Operation, sms.Code)
	// AnswerOperation turns p, a request that carried an operation, into its answer. r is
	// used if code is OK.
	AnswerOperation(p PDU, code sms.Code, r *Result)
}

// A Requester is a Session that can ask the peer about messages that the peer has accepted from us. A
// protocol whose sessions implement Operations also implements Requester.
type Requester interface {
	// Ask fills p with a request about a message that the peer has, with the given sequence number, at the
	// time now by the clock of the message's times. p's slices point into r. Ask is called by the same
	// goroutine as Messages.Encode.
	Ask(now int64, p PDU, r *Request, sequence uint32)
	// Outcome returns the content of p, the successful answer to request r. It reports false if p answers a
	// request of another kind.
	Outcome(now int64, p PDU, r *Request) (Result, bool)
}

// A Request is an operation about a message that a peer has accepted from us.
type Request struct {
	Kind   OperationKind // Query, Cancel or Replace
	PeerID []byte        // the peer's id of the message

	// Message has the addresses of the message. For Replace it is the new form of the message; its times are by the wall clock.
	Message *sms.Message
}
