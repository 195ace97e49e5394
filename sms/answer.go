package sms

import "sync/atomic"

// An Answer is what a peer said to a message, or the time-out that stands for its
// silence. It goes to whatever settles the message.
type Answer struct {
	Code   Code
	Status uint32 // the protocol's own value of Code
	PeerID []byte // the peer's id of the message; it lies in the PDU of the answer
	At     int64  // Unix nanoseconds
}

// A Tally counts an account's messages, over all connectors. It is safe for
// concurrent use.
type Tally struct {
	Scheduled atomic.Int64 // messages that wait for their delivery time
	Accepted  atomic.Int64 // messages taken from its clients
	Refused   atomic.Int64 // messages not taken from them
	Sent      atomic.Int64 // messages of theirs that a peer has accepted
	Failed    atomic.Int64 // messages of theirs given up
	Expired   atomic.Int64 // messages of theirs whose validity ran out here
}
