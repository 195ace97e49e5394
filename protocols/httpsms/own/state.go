package own

import (
	"slices"

	"pmg/sms"
)

// The states of messages that an SMSC has, or has had. Those behind buffered are final.
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

// StateOf returns a state as clients read it, wherever they do. taken reports whether an SMSC has taken the message.
func StateOf(s sms.State, taken bool) string {
	switch {
	case int(s) >= len(words):
		return unknown
	case taken:
		return words[s].taken
	}
	return words[s].waits
}

// States returns all states as clients read them.
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

// sequence returns the place of a state behind those that come before it. An event has nothing to say after one with a
// higher number; all final states have the last.
func sequence(state string) int {
	switch state {
	case sent:
		return 1
	case buffered:
		return 2
	}
	return 3
}
