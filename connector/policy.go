package connector

import (
	"time"

	"pmg/sms"
)

// A Policy makes the decisions that a lane does not make itself. The gateway has one Policy for all
// lanes. One part of the gateway implements each interface.
type Policy struct {
	Settler Settler
	Gate    Gate
	Intents Intents
	Bodies  Bodies
	Router  Router
	Links   Links
	Process Process
}

// A Settler decides how messages continue or end.
type Settler interface {
	// Settle decides what follows from the answer to a message. alone is true if no other request was
	// under way when the session ended.
	Settle(l *Lane, m *sms.Message, a sms.Answer, alone bool) Outcome
	// Tried records an attempt after which the message is sent again, by this lane or another lane.
	// sent is when the message was written, or 0 if it was not written.
	Tried(l *Lane, m *sms.Message, a sms.Answer, sent int64)
	// Ended records how a message ended: a peer has accepted the message, or the message was given up.
	// It is called once for each message. sent is when the message was last written, or 0 if it was
	// never written.
	Ended(l *Lane, m *sms.Message, a sms.Answer, sent int64)
	// Doubled records the answer to a copy of a message that had already ended.
	Doubled(l *Lane, m *sms.Message, a sms.Answer)
	// Halted reports whether no more messages may leave. This is so if the gateway is stopping and the
	// waiting messages are in a store, or if the store cannot keep up.
	Halted(now int64) bool
	// Unreadable records that the lane has dropped a message whose body cannot be read.
	Unreadable(l *Lane, s *Share, id uint64)
}

// Intents records in the store which messages are about to leave.
type Intents interface {
	// Leaves stores that a message is about to leave, so that it is not sent again if the gateway is
	// killed. It returns a token for IsStored. A token of 0 means that nothing is stored and the
	// message leaves without an intent.
	Leaves(l *Lane, m *sms.Message) (token uint64)
	// IsStored reports whether the intent with this token is safely stored.
	IsStored(token uint64) bool
	// Stays removes the intent of a message that did not leave after all.
	Stays(l *Lane, m *sms.Message)
}

// Bodies reads messages of which a lane holds only entries.
type Bodies interface {
	// Durable reports whether messages are on disk as well, so that Load can read them.
	Durable() bool
	// Load begins to read messages of which the lane holds only entries. It must not block or retain
	// ids. The result is passed to Loaded later; the messages in the result are complete, with their
	// origins.
	Load(l *Lane, ids []uint64)
}

// A Router finds other lanes for messages.
type Router interface {
	// Reroute returns the share of another lane to which the message's route leads, or nil if there is
	// no such lane. always is set if l is leaving: then the result may be a lane that is not up, and
	// the message ends if the result is nil.
	Reroute(l *Lane, m *sms.Message, always bool) *Share
	// Moved records that n messages have left the lane because the lane was down for too long.
	Moved(l *Lane, n int, down time.Duration)
}

// Links informs the gateway about its sessions with SMSCs.
type Links interface {
	// Disconnected records that a session of an out connector has ended. rest is how long its instance
	// rests.
	Disconnected(now int64, l *Link, rest time.Duration)
	// HoldOver is called when the hold of the lane's connector has reached its end time.
	HoldOver(l *Lane)
}

// A Process is the running gateway.
type Process interface {
	// Draining reports whether the gateway is stopping.
	Draining() bool
}

// An Outcome says what happens next to a message whose request was answered, or will never be
// answered.
type Outcome struct {
	Again bool   // the message returns to the queue, to be sent at its NotBefore or later
	To    *Share // the share of another lane that takes the message; nil: the message stays in this lane
	Kept  uint64 // with Again: the token with which IsStored reports that the present state is stored; 0: not stored
	Aside bool   // the message is kept elsewhere now: it leaves the lane but has not ended
	Pause int64  // the lane sends nothing before this time; 0: no pause
}
