package keep

import (
	"pmg/events"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// An Ending describes how a message has ended.
type Ending struct {
	State  events.State
	Lane   store.Lane       // the last lane of the message
	Peer   protocols.Driver // driver of the lane; nil: the lane does not exist any more
	Answer sms.Answer
	Sent   int64 // when the message was last written; 0: never
	Aside  bool  // the message was put aside, so it waited in no lane

	// Charge is the price that the account pays. It is decided before the steps, so that the event and
	// the mapping contain the same price.
	Charge sms.Money
	Cost   sms.Money // price that the SMSC charges
	Shorts uint8     // number of short messages that Charge and Cost are for; 0: one

	Attempts   uint8 // how often the message was sent
	Operations bool  // the last out connector has the option operations
}
