package protocols

import (
	"fmt"
	"net/netip"
	"time"

	"pmg/sms"
)

// A Role is a side of a session.
type Role uint8

// The roles. Either side may have connected: with outbind the server does.
const (
	Server Role = iota // the peer logs in
	Client             // we log in
)

// String returns the role's name.
func (r Role) String() string { return [...]string{"server", "client"}[r&1] }

// SessionOptions are the options of our side of a session. Durations are in nanoseconds; 0
// switches the timer off.
type SessionOptions struct {
	Role            Role
	Name            string // a server's name in its answers to logins
	Accepted        bool   // client: the peer has opened the connection, so that the client speaks first
	Anonymous       bool   // with Accepted: the peer need not log in, if the protocol has no other need for that
	SystemID        string // client: account for the login
	Password        string // client: password for the login
	BindTimeout     int64  // limit from the connection to the end of the login
	EnquireInterval int64  // silence after which the session enquires whether the peer is alive
	ResponseTimeout int64  // limit for answers to the session's own requests
	Payload         bool   // texts that are too long for one short message are sent in the protocol's field for long texts
	KeepPayload     bool   // texts that came in the protocol's field for long texts are sent in that field
	IdleMax         int64  // time without a message after which the session logs out

	Remote netip.AddrPort // the peer's address

	// Taken reports whether a request with a sequence number waits for its answer, so that
	// Session.NextSequence must not return the number. Any goroutine may call it. Nil means
	// that no number is taken.
	Taken func(sequence uint32) bool

	// Load returns, in percent, how full the queue of the session's last message is. It is called in
	// Messages.Answer. Nil means that the load is unknown.
	Load func() int

	// Wanted reports whether a login was refused for want of the session's place, and the peer has sent
	// nothing since then, nor for WantedPatience. Patience calls Wanted. Nil means that no place is ever
	// wanted.
	Wanted func(now int64) bool

	// Client returns the options that the client's account has for sessions of the protocol, nil if the
	// account has none. Messages of a session that is logged in call it. A nil Client means that there are no
	// options.
	Client func() any

	// MayCall reports whether the messages of the client's account may name a URL to be called. Like Client, it is called
	// in a session that is logged in. Nil means that they may not.
	MayCall func(url string) bool

	// Options are the connector's options that belong to its protocol; nil means the
	// defaults.
	Options Options
}

// WantedPatience is the time for which a peer may be silent, and then the time for its answer, while another
// login wants the session's place. Twice that, and twice the second by which a timer may be late, is no more
// than the 10 s after which clients usually try again. A peer that lives is asked once in this time, however
// many logins are refused.
const WantedPatience = 4 * time.Second

// Patience returns how long the peer may be silent before the session enquires whether it is alive, and how
// long the answer may take. A session that never enquires does not enquire because of a wanted place either.
func (o *SessionOptions) Patience(now int64) (silence, answer int64) {
	silence, answer = o.EnquireInterval, o.ResponseTimeout
	if silence > 0 && o.Wanted != nil && o.Wanted(now) {
		silence, answer = min(silence, int64(WantedPatience)), min(answer, int64(WantedPatience))
	}
	return silence, answer
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

// Kind implements option.Word: the configuration has a bind type as a word.
func (BindType) Kind() string { return "word" }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *BindType) UnmarshalText(text []byte) error {
	t, ok := ParseBindType(string(text))
	if !ok {
		return fmt.Errorf("must be transmitter, receiver or transceiver, not %q", text)
	}
	*b = t
	return nil
}

// A Session is the state machine of one connection. Times are Unix nanoseconds.
//
// One goroutine at a time (the builder) calls its methods, with these exceptions:
// Start is called before any other method; Encode is called by another single
// goroutine (the encoder) concurrently with the others; NextSequence, Bound and
// Accepting may be called from any goroutine.
//
// Features that only some protocols have are in interfaces of their own: see Abilities.
type Session interface {
	Conversation
	Messages
	// Bound returns the bind type of the session, or 0 while it is not logged in.
	Bound() BindType
	// Accepting reports whether the session is logged in and neither side has begun to log out, so that
	// messages may be sent. It does not check whether the bind type allows messages.
	Accepting() bool
}

// A Conversation handles the PDUs of the peer and the timers of a session.
type Conversation interface {
	// Start begins the session. A client fills p with its login and returns Send; a
	// server returns None and waits, and so does a client whose peer has connected, for
	// which p may be nil.
	Start(now int64, p PDU) Action
	// Receive handles a PDU of the peer and returns the action that follows. With Send or
	// SendClose, p has become the answer. With Accepted and Anonymous, the first PDU may make
	// the session a bound one (Bound), whatever its action.
	Receive(now int64, p PDU) Action
	// Login is called with the result after an Action of kind Login. p, the request,
	// becomes its answer.
	Login(now int64, p PDU, code sms.Code) Action
	// Tick is called regularly, at least ten times while any timer of SessionOptions runs. It fills p when it
	// returns Send or SendClose. It returns Leave repeatedly while the session must be logged out. listening
	// reports whether the session is being read. While listening is false, silence of the peer means nothing.
	Tick(now int64, p PDU, listening bool) Action
	// Unbind begins our logout. It fills p and returns Logout, or returns Drain if the
	// protocol has no logout but the end of the connection, or Close if the session is
	// not logged in.
	Unbind(now int64, p PDU) Action
	// Idle must be called once after an Action of kind Drain, when all our requests were
	// written and answered. The session then fills p with the answer to the peer's logout
	// and returns SendClose, or returns Close if there is nothing to answer. Without a
	// Drain it returns None.
	Idle(now int64, p PDU) Action
}

// Messages converts between the PDUs of a session and messages.
type Messages interface {
	// Message fills m from p after an Action of kind Message. m does not point into p. If
	// the code is not OK, the request must be refused with it.
	Message(now int64, p PDU, m *sms.Message) sms.Code
	// Answer turns p, a request that carried a message, into its answer. id is the
	// message's id, which is used if code is OK. Because a protocol may show only a part
	// of the id, ids must not grow by more than four million per second, restarts included.
	Answer(p PDU, code sms.Code, id uint64)
	// Encode fills p with the request that carries m to the peer, with the given
	// sequence number. p's slices point into m.
	Encode(now int64, p PDU, m *sms.Message, sequence uint32)
	// NextSequence returns the sequence number of our next request. It never returns the
	// number of a request that waits for its answer, while no more than Options.MaxWindow
	// requests do. The session's own requests get their numbers from here too.
	NextSequence() uint32
}

// Abilities are the optional interfaces of a session. A field is nil if the session lacks the ability. An
// Action refers to Recipients or Operations only if the session has them.
type Abilities struct {
	Recipients Recipients
	Operations Operations
	Requester  Requester
	Limited    Limited
}

// AbilitiesOf returns the abilities of a session. It is called once, when the session opens.
func AbilitiesOf(s Session) (a Abilities) {
	a.Recipients, _ = s.(Recipients)
	a.Operations, _ = s.(Operations)
	a.Requester, _ = s.(Requester)
	a.Limited, _ = s.(Limited)
	return a
}

// A Limited is a Session whose peer may have no room for long texts in one message.
type Limited interface {
	// HasRoom reports whether a text of so many octets can be sent.
	HasRoom(octets int) bool
}

// AnyText is the length of the longest text that every session has room for.
const AnyText = 254

// Recipients handles PDUs that carry a message to several recipients, each of which is a message to the
// gateway. The Action of such a PDU contains their number.
type Recipients interface {
	// To makes Message return the message to recipient i of p, from 0 on.
	To(p PDU, i int)
	// Refuse records that the recipient that To has named last is refused. Answer reports the refusal if
	// other recipients are accepted. The ids of further recipients follow the id that Answer is called with.
	Refuse(p PDU, code sms.Code)
}

// An ActionKind is the kind of an action.
type ActionKind uint8

// The kinds of action.
const (
	None      ActionKind = iota // nothing
	Send                        // send the PDU
	SendClose                   // send the PDU, then close the connection
	Close                       // close the connection
	Login                       // check Action.Credentials (with Accepted those of an SMSC), then call Session.Login
	Bound                       // our login was accepted
	Message                     // the PDU carries a message: call Session.Message, later Session.Answer
	Operate                     // the PDU carries an operation: call Session.Operation, later Session.AnswerOperation
	Alert                       // the PDU says that a mobile is available again, which nothing answers
	Answered                    // the peer answered our request Action.Sequence with Action.Code
	Logout                      // send the PDU, our logout; the session accepts no more messages, but answers may still come
	Leave                       // the session has been idle: call Session.Unbind when all our requests are answered
	// logout by the peer, or by us without a PDU: the session accepts no more messages; call Session.Idle
	// when all our requests are answered
	Drain
	// the connection is not ours any more: the octets of the PDU, and all that follow, are for the general server of the
	// connection. Only sessions of Requests return it, and only while none of their requests is unanswered.
	HandOver
)

// kindNames are the names of the kinds in failing tests.
var kindNames = [...]string{
	"None", "Send", "SendClose", "Close", "Login", "Bound", "Message", "Operate", "Alert", "Answered", "Logout", "Leave",
	"Drain", "HandOver",
}

// String returns the kind's name.
func (k ActionKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "ActionKind(?)"
}

// An Action is what the caller of a session must do.
type Action struct {
	Kind     ActionKind
	Messages int      // Message: number of recipients, each of which gets a message; 0: one message
	Sequence uint32   // Answered: the number of the request
	Code     sms.Code // Answered: the result; PDU.MessageID returns the peer's id of the message
	Status   uint32   // Answered: the protocol's own value of the result
	Partly   bool     // Message, Answered: a part of the PDU cannot be read, and is left out
	NoNumber bool     // Answered: the answer has no Sequence, because the peer could not read one of our requests
	Session  bool     // Answered: Code means that the peer takes no messages at all in this session
	Asked    bool     // Answered: the request came from Requester.Ask; a refusal may lack the mark
	Reason   string   // Close, SendClose: the reason, for the log: "cannot hear from peer: …"

	Credentials Credentials // Login
}

// Credentials are the credentials of a client's login. The slices point into the PDU.
type Credentials struct {
	SystemID, Password []byte
	SystemType         []byte
	Bind               BindType
	Version            uint8
}

// Options are the protocol-specific options of a connector. The type is a pointer to a struct whose fields
// have the tags that package config describes.
type Options interface {
	// BindType returns the bind type of our sessions as a client.
	BindType() BindType
	// MaxWindow returns how many requests may wait for their answers on one session. A protocol with n
	// sequence numbers allows at most n/2 - 2. The other numbers are for the session's own requests, and for
	// requests that have a number and are not under way yet. If sessions track their numbers, all numbers may
	// be used except those for the session's own requests.
	MaxWindow() int
	// Alphabets returns the alphabets that a message can declare in addition to the peer's default alphabet.
	Alphabets() sms.Alphabets
	// MaxText returns the number of octets of text, without a user data header, for which a message has room; 0: any text fits.
	MaxText() int
	// CheckLogin returns the problems of the connector's own system_id and, if it is a
	// client, of its password; and those of passwords among the options themselves.
	CheckLogin(systemID, password string) []Problem
	// CheckAccount returns the problem that prevents a client with these credentials from logging in to the connector, or nil.
	CheckAccount(systemID, password string) []Problem
}

// A Problem is an error in the options of a connector or account.
type Problem struct {
	Option string // name of the option in the configuration: "password"
	Text   string // requirement of the option: "must be at most 8 characters"

	Warning bool // the option can be used despite the problem
}
