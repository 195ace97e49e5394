package protocols

import "pmg/sms"

// A Role is a side of a session.
type Role uint8

// The roles. A server may be the side that connects, as an SMS centre with outbind.
const (
	Server Role = iota // the peer logs in
	Client             // we log in
)

// String returns the role's name.
func (r Role) String() string { return [...]string{"server", "client"}[r&1] }

// SessionOptions is what a session must know about its side. Durations are in
// nanoseconds; 0 switches that timer off.
type SessionOptions struct {
	Role            Role
	Name            string // what a server calls itself when a client logs in
	SystemID        string // what a client logs in as
	Password        string // what a client logs in with
	BindTimeout     int64  // from connect to login done
	EnquireInterval int64  // silence after which the peer is asked whether it lives
	ResponseTimeout int64  // for answers to the session's own requests
	IdleMax         int64  // time without a message after which the session logs out

	// Taken reports whether a request with that sequence number awaits its answer,
	// so that Session.NextSequence must not return it. It is called from any
	// goroutine. Nil means that none is taken.
	Taken func(sequence uint32) bool

	// Options are those of the connector that belong to its protocol; nil stands for
	// the defaults.
	Options Options
}

// A BindType is the set of ways in which messages may flow in a session.
type BindType uint8

// The bind types. For the client of a session: may send, may receive, both.
const (
	Transmitter BindType = 1 + iota
	Receiver
	Transceiver
)

// CanSubmit reports whether the client may submit messages.
func (b BindType) CanSubmit() bool { return b&Transmitter != 0 }

// CanReceive reports whether messages may be delivered to the client.
func (b BindType) CanReceive() bool { return b&Receiver != 0 }

// String returns the bind type's name in the configuration.
func (b BindType) String() string {
	return [...]string{"none", "transmitter", "receiver", "transceiver"}[b&3]
}

// A Session is the state machine of one connection. Times are Unix nanoseconds.
//
// One goroutine at a time (the builder) calls its methods, with these exceptions:
// Start is called before any other method; Encode is called by another single
// goroutine (the encoder) concurrently with the others; NextSequence, Bound and
// Accepting may be called from any goroutine.
type Session interface {
	Conversation
	Messages
	// Bound returns how the session is logged in, and 0 while it is not.
	Bound() BindType
	// Accepting reports whether the session may be given messages to send: it is
	// logged in, and neither side has begun to log out. Whether its bind type allows
	// that is not part of the answer.
	Accepting() bool
}

// A Conversation is how a session reacts to its peer and to time.
type Conversation interface {
	// Start begins the session. A client fills p with its login and returns Send; a
	// server returns None and waits.
	Start(now int64, p PDU) Action
	// Receive takes a PDU of the peer and returns what follows. When it returns Send
	// or SendClose, p has become the answer.
	Receive(now int64, p PDU) Action
	// Login ends the wait that an Action of kind Login began: p, the request, becomes
	// its answer.
	Login(now int64, p PDU, code sms.Code) Action
	// Tick is called regularly, and at least ten times while any timer of
	// SessionOptions runs. It fills p when it returns Send, SendClose or Logout.
	// listening reports whether what the peer sends is being read. While it is not,
	// the peer's silence means nothing.
	Tick(now int64, p PDU, listening bool) Action
	// Unbind begins our logout. It fills p and returns Logout, or returns Close if
	// the session is not logged in.
	Unbind(now int64, p PDU) Action
	// Idle tells the session that none of our requests awaits an answer, and none that
	// it was given is still to be written. The caller owes it once after an Action of
	// kind Drain: the session then fills p with the answer to the peer's logout and
	// returns SendClose. Without a Drain it returns None.
	Idle(now int64, p PDU) Action
}

// Messages is how a session's PDUs carry messages.
type Messages interface {
	// Message fills m from p after an Action of kind Message; m keeps nothing of p.
	// The request is to be refused with a code other than OK.
	Message(now int64, p PDU, m *sms.Message) sms.Code
	// Answer turns p, a request that carried a message, into its answer. id is the
	// message's, used when code is OK. A protocol may show less than the whole id, so
	// ids must not grow by more than four million a second, restarts included.
	Answer(p PDU, code sms.Code, id uint64)
	// Encode fills p with the request that carries m to the peer, with the given
	// sequence number. p's slices point into m.
	Encode(now int64, p PDU, m *sms.Message, sequence uint32)
	// NextSequence returns the number of our next request. It never returns the
	// number of a request that awaits its answer, as long as no more requests than
	// Options.MaxWindow do. The session's own requests have theirs from here, too.
	NextSequence() uint32
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
	Logout                      // send the PDU, our logout; the session takes no more messages, answers still come
	Drain                       // the peer logs out; as Logout, and call Session.Idle as soon as no request of ours awaits an answer
)

// kindNames are the kinds as failing tests print them.
var kindNames = [...]string{"None", "Send", "SendClose", "Close", "Login", "Bound", "Message", "Answered", "Logout", "Drain"}

// String returns the kind's name.
func (k ActionKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "ActionKind(?)"
}

// An Action is what a session wants done.
type Action struct {
	Kind     ActionKind
	Sequence uint32   // Answered: of the request
	Code     sms.Code // Answered: its result; PDU.MessageID has the peer's id of the message
	Status   uint32   // Answered: the protocol's own value of the result
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

// Options are a connector's options that belong to its protocol. The type is a
// pointer to a struct whose fields have the tags that package config describes.
type Options interface {
	// BindType returns the way in which messages flow in a client's sessions.
	BindType() BindType
	// MaxWindow returns how many requests may await their answers on one session. A
	// protocol with n sequence numbers allows at most n/2 - 2, so that a number that
	// was given out but is not under way yet does not come round, and the session's
	// own requests have some.
	MaxWindow() int
	// CheckLogin returns what is wrong with what the connector calls itself and, if
	// it is a client, logs in with.
	CheckLogin(systemID, password string) []Problem
	// CheckAccount returns why a client with these credentials cannot log in to the
	// connector, or nil if it can.
	CheckAccount(systemID, password string) []Problem
}

// A Problem is one thing that is wrong with the options of a connector or account.
type Problem struct {
	Option string // its name in the configuration: "password"
	Text   string // what it must be: "must be at most 8 characters"

	Warning bool // the option can be used all the same
}
