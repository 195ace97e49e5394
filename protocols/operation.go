package protocols

import "pmg/sms"

// An OperationKind is what a client asks about messages that it has submitted.
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

	// ID is the id by which the client knows the message, or 0: Cancel is then about all
	// messages from Source to Dest. If Modulo is not 0, ID is only the remainder of the id,
	// which is that of the latest message with that remainder.
	ID, Modulo uint64

	// Source is the sender of the messages, and Dest their recipient, of which nil means any.
	// They are compared without their types. With ByID the id alone counts.
	Source, Dest sms.Address
	ByID         bool

	// Fits reports whether the fields of the operation that have no meaning but in its
	// protocol allow a message. Nil means that there are none.
	Fits func(m *sms.Message) bool
	// Change changes a message as Replace asks for, at the time now by the clock of the
	// message's times. With a code other than OK it has changed nothing.
	Change func(now int64, m *sms.Message) sms.Code
}

// A Result is what became of an operation that has succeeded.
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

// A Requester is a Session that can ask the peer about messages that the peer has accepted from
// us. The sessions of a protocol that has Operations are Requesters, too.
type Requester interface {
	// Ask fills p with a request about a message that the peer has, with the given sequence
	// number, at the time now by the clock of the message's times. p's slices point into r. It is called like
	// Messages.Encode.
	Ask(now int64, p PDU, r *Request, sequence uint32)
	// Outcome returns what p says, the answer to request r, which has succeeded. It reports false
	// if p answers a request of another kind.
	Outcome(now int64, p PDU, r *Request) (Result, bool)
}

// A Request is an operation about a message that a peer has accepted from us.
type Request struct {
	Kind   OperationKind // Query, Cancel or Replace
	PeerID []byte        // the peer's id of the message

	// Message has the addresses of the message. For Replace it is what the message becomes; its
	// times are by the wall clock.
	Message *sms.Message
}
