package connector

import "pmg/config"

// A noting is a slot whose message leaves when the store has a note of that. With
// on_unknown: fail a message must not be sent again if the gateway is killed while nobody
// knows whether the peer has it.
type noting struct {
	slot *Slot
	note uint64
}

// Next removes and returns the next slot. Either the slot holds a message that must be
// sent, or it has no session and its instance must be connected. If Next returns nil,
// nothing can be done now. Then again is the time of the next call, or 0 if only another
// event allows one.
func (l *Lane) Next(now int64) (slot *Slot, again int64) {
	if len(l.noting) > 0 {
		if slot = l.nextNoted(now); slot != nil {
			return slot, 0
		}
	}
	for {
		slot, again = l.next(now)
		if slot == nil || slot.Link == nil || slot.Asked != nil || !l.isNoting() {
			return slot, again
		}
		note := l.policy.Leaves(l, slot.Message)
		if note == 0 {
			return slot, again
		}
		l.noting = append(l.noting, noting{slot, note})
	}
}

// isNoting reports whether messages leave only after a note.
func (l *Lane) isNoting() bool { return l.Config().OnUnknown == config.Fail }

// nextNoted returns the slot of the first message whose note is safe. Messages whose
// sessions take no more requests return to their queues.
func (l *Lane) nextNoted(now int64) (slot *Slot) {
	waiting := l.noting
	l.noting = l.noting[:0]
	for _, n := range waiting {
		switch {
		case n.slot.Link.dropped:
			l.Unsent(now, n.slot)
		case slot == nil && l.policy.IsNoted(n.note):
			slot = n.slot
		default:
			l.noting = append(l.noting, n)
		}
	}
	clear(waiting[len(l.noting):])
	return slot
}
