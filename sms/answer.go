package sms

import "sync/atomic"

// An Answer is a peer's answer to a message, or the reason why there is none. The gateway
// settles the message by it.
type Answer struct {
	Code   Code
	Status uint32 // the protocol's own value of Code
	PeerID []byte // the peer's id of the message; it points into the PDU of the answer
	At     int64  // Unix nanoseconds
}

// A Tally counts an account's messages, over all connectors. It is safe for
// concurrent use.
type Tally struct {
	Scheduled atomic.Int64 // messages that wait for their delivery time
	Parked    atomic.Int64 // messages that no route leads anywhere
	Accepted  atomic.Int64 // messages accepted from its clients
	Refused   atomic.Int64 // messages of its clients that were refused
	Sent      atomic.Int64 // its messages that a peer has accepted
	Failed    atomic.Int64 // its messages that were given up
	Memory    atomic.Int64 // octets that its messages take in memory
	Expired   atomic.Int64 // its messages whose validity ended before they were sent
}
