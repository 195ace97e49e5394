package connector

import (
	"time"

	"pmg/sms"
)

// A Policy makes the decisions that are not the lane's. The gateway has one for all lanes; each part belongs to one
// room.
type Policy struct {
	Settler Settler
	Gate    Gate
	Intents Intents
	Bodies  Bodies
	Router  Router
	Links   Links
	Process Process
}

// A Settler decides what becomes of messages.
type Settler interface {
	// Settle decides what follows from the answer to a message.
	Settle(l *Lane, m *sms.Message, a sms.Answer, alone bool) Outcome
	// Tried records an attempt after which the message is sent again, by this lane or another: sent is when it was
	// written, 0 if it was not.
	Tried(l *Lane, m *sms.Message, a sms.Answer, sent int64)
	// Ended records how a message ended, once for each: a peer has accepted it, or it was
	// given up. sent is when it was written last, 0 if it never was.
	Ended(l *Lane, m *sms.Message, a sms.Answer, sent int64)
	// Doubled records the answer to a copy of a message that had ended before.
	Doubled(l *Lane, m *sms.Message, a sms.Answer)
	// Halted reports whether no more messages are to leave: the gateway is stopping, and
	// what waits is in a store, or the store does not follow.
	Halted(now int64) bool
	// Unreadable records that the lane has dropped a message that cannot be read.
	Unreadable(l *Lane, s *Share, id uint64)
}

// Intents say in the store which messages are about to leave.
type Intents interface {
	// Leaves stores that a message is about to leave, so that it is not sent
	// again if the gateway is killed. It returns what IsStored is asked for; 0: nothing is
	// stored, and the message leaves without an intent.
	Leaves(l *Lane, m *sms.Message) (token uint64)
	// IsStored reports whether an intent is safe.
	IsStored(token uint64) bool
	// Stays takes back the intent of a message that has not left after all.
	Stays(l *Lane, m *sms.Message)
}

// Bodies reads the messages of which a lane keeps only entries.
type Bodies interface {
	// Durable reports whether messages are on disk as well, so that Load can read them.
	Durable() bool
	// Load begins to read messages of which the lane keeps only entries. It must not wait, nor keep
	// ids. A later call passes the result to Loaded: the messages with all that is known of them,
	// their origin too.
	Load(l *Lane, ids []uint64)
}

// A Router finds other lanes for messages.
type Router interface {
	// Reroute returns the share of another lane that a message goes to by its route, or nil
	// if there is none. With always, which is set when l is leaving, it may be a lane that
	// is not up; the message ends if the result is nil.
	Reroute(l *Lane, m *sms.Message, always bool) *Share
	// Moved is called when n messages have left the lane, because it was down for too long.
	Moved(l *Lane, n int, down time.Duration)
}

// Links are what the gateway knows of its sessions with SMSCs.
type Links interface {
	// Disconnected records that a session of an out connector is over, and how long its
	// instance rests.
	Disconnected(now int64, l *Link, rest time.Duration)
	// HoldOver is called when the hold of the lane's connector has ended by its time.
	HoldOver(l *Lane)
}

// A Process is the gateway that runs.
type Process interface {
	// Draining reports whether the gateway is stopping.
	Draining() bool
}

// An Outcome says what follows for a message whose request was answered, or never will
// be.
type Outcome struct {
	Again bool   // the message returns to the queue, to be sent at its NotBefore or later
	To    *Share // the share of another lane that takes the message; nil: none
	Kept  uint64 // with Again, what IsStored is asked for: the store has the message as it is now; 0: it has not
	Aside bool   // the message waits elsewhere now: it leaves the lane and has not ended
	Pause int64  // the lane sends nothing before this time; 0: it does not pause
}
