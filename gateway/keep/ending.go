package keep

import (
	"pmg/events"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// An Ending is how a message has ended.
type Ending struct {
	State  events.State
	Lane   store.Lane       // in which it was last
	Peer   protocols.Driver // of the lane; nil: it is gone
	Answer sms.Answer
	Sent   int64 // when it was written last; 0: never
	Aside  bool  // it was put aside before

	// Charge is what its account pays for it. It is decided before the steps: event and mapping of its id say the same.
	Charge sms.Money

	Attempts   uint8 // how often it was sent
	Operations bool  // an out connector with the option operations was the last
}
