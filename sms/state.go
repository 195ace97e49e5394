package sms

// A State is the state or the outcome of a message, as a receipt reports it. The numbers are part
// of stored receipts and never change their meaning.
type State uint8

// The states.
const (
	NoState            State = 0  // no state was reported
	StateScheduled     State = 1  // the message waits for its delivery time
	StateEnroute       State = 2  // the message is on its way
	StateDelivered     State = 3  // the message is at the mobile
	StateExpired       State = 4  // the message's validity ended
	StateDeleted       State = 5  // the message was cancelled
	StateUndeliverable State = 6  // the message cannot be delivered
	StateAccepted      State = 7  // the message was read on behalf of the subscriber; many SMSCs mean: accepted by the network
	StateUnknown       State = 8  // the state is not known
	StateRejected      State = 9  // the message was refused
	StateSkipped       State = 10 // the message was accepted, but not sent, as in a broadcast
	states             State = 11
)

var stateNames = [states]string{
	"none", "scheduled", "enroute", "delivered", "expired", "deleted", "undeliverable", "accepted", "unknown",
	"rejected", "skipped",
}

// StateCount is the number of states, including NoState.
const StateCount = int(states)

// States lists every State but NoState in order, for tables and tests that must cover all.
func States() []State {
	all := make([]State, 0, states-1)
	for s := StateScheduled; s < states; s++ {
		all = append(all, s)
	}
	return all
}

// String returns the state's name in metrics and logs.
func (s State) String() string {
	if s < states {
		return stateNames[s]
	}
	return "unknown"
}

// Final reports whether no other state can follow. StateAccepted is not final here, although it is by the
// specification of SMPP: most peers mean by it that their network accepted the message, and report the
// outcome later.
func (s State) Final() bool {
	switch s {
	case NoState, StateScheduled, StateEnroute, StateAccepted:
		return false
	}
	return s < states
}
