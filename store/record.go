package store

import "pmg/sms"

// A Head is what can be read of a record without the message: all that is needed to
// give the message its place in a queue.
//
// Its names lie in the record.
type Head struct {
	Account, Connector         []byte // the origin of the message
	LaneConnector, LaneAccount []byte // the lane that it was accepted for; one of them is empty

	Arrived, DeliverAt, Expires int64 // by the wall clock; 0: not set
	Priority                    uint8
	Kind                        sms.Kind
}

// A State is what changes of a message while it waits.
type State struct {
	Lane   Lane   // where it waits now
	Aside  Aside  // why it waits in no lane
	Reason string // for people: why it was put aside

	Attempts, Losses, Throttles uint8
	NotBefore                   int64 // by the wall clock
}

// An Aside says why a message waits in no lane.
type Aside uint8

// The reasons.
const (
	InLane      Aside = iota // it waits in its lane
	Parked                   // no route leads anywhere
	Quarantined              // something fails at it
)
