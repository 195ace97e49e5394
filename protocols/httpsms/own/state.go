package own

import (
	"slices"

	"pmg/sms"
)

// The states of messages that an SMSC has, or has had. The states after buffered are final.
const (
	sent        = "sent"
	buffered    = "buffered"
	delivered   = "delivered"
	undelivered = "undelivered"
	expired     = "expired"
	rejected    = "rejected"
	failed      = "failed"
	deleted     = "deleted"
	unknown     = "unknown"
)

// words are the names of states for clients: of a message that no SMSC has taken, and of one that an SMSC has
// taken.
var words = [sms.StateCount]struct{ waits, taken string }{
	sms.NoState:            {Queued, sent},
	sms.StateScheduled:     {Scheduled, buffered},
	sms.StateEnroute:       {Queued, sent},
	sms.StateDelivered:     {delivered, delivered},
	sms.StateExpired:       {expired, expired},
	sms.StateDeleted:       {deleted, deleted},
	sms.StateUndeliverable: {failed, undelivered}, // failed: the gateway has given the message up; undelivered: the network has
	sms.StateAccepted:      {buffered, buffered},
	sms.StateUnknown:       {unknown, unknown},
	sms.StateRejected:      {rejected, rejected},
	sms.StateSkipped:       {undelivered, undelivered},
}

// StateOf returns a state in the form for clients. taken reports whether an SMSC has accepted the message.
func StateOf(s sms.State, taken bool) string {
	switch {
	case int(s) >= len(words):
		return unknown
	case taken:
		return words[s].taken
	}
	return words[s].waits
}

// States returns all states in the form for clients.
func States() (all []string) {
	for _, w := range words {
		for _, word := range [...]string{w.waits, w.taken} {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// sequence returns the position of a state in the order of states. An event is out of date after an event
// with a higher number; all final states have the highest.
func sequence(state string) int {
	switch state {
	case sent:
		return 1
	case buffered:
		return 2
	}
	return 3
}
