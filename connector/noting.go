package connector

import (
	"slices"
	"time"

	"pmg/config"
)

// noting holds slots until the store has recorded that their messages are about to be sent. With
// on_unknown: fail a message must not be sent again if the gateway is killed before the peer's
// answer.
type noting struct {
	waiting []notedSlot // from first on, in the order of their notes
	first   int
	dropped bool // a session takes no more requests, and some of these slots may be its own

	passed []*Slot // slots whose messages leave after a plugin was asked about them; in the order of its answers
}

// A notedSlot is a slot and the number of the note that its message waits for.
type notedSlot struct {
	slot *Slot
	note uint64
}

// add adds a slot. The slots that have left are removed when they are more than those that wait.
func (n *noting) add(slot *Slot, note uint64) {
	if n.first > len(n.waiting)/2 {
		n.waiting = slices.Delete(n.waiting, 0, n.first)
		n.first = 0
	}
	n.waiting = append(n.waiting, notedSlot{slot, note})
}

// Next removes and returns the next slot. Either the slot holds a message that must be
// sent, or it has no session and its instance must be connected. If Next returns nil,
// nothing can be done now. Then again is the time of the next call, or 0 if only another
// event allows one.
func (l *Lane) Next(now int64) (slot *Slot, again int64) {
	if len(l.noting.waiting) > 0 {
		if slot = l.nextNoted(now); slot != nil {
			return slot, 0
		}
	}
	for kept := 0; ; {
		if slot = l.noting.nextPassed(l, now); slot == nil {
			if slot, again = l.next(now); slot == nil || slot.Outlet == nil || slot.Inquiry != nil {
				return slot, again
			}
			if !l.policy.Gate.IsOpen(l) && !slot.passes(now, l.policy.Gate.Check(now, slot)) {
				if kept++; kept > mostKept {
					return nil, now + int64(time.Millisecond)
				}
				continue
			}
		}
		if !l.isNoting() {
			return slot, 0
		}
		note := l.policy.Notes.Leaves(l, slot.Message)
		if note == 0 {
			return slot, 0
		}
		l.noting.add(slot, note)
	}
}

// isNoting reports whether messages leave only after a note.
func (l *Lane) isNoting() bool { return l.Config().OnUnknown == config.Fail }

// nextNoted returns the slot of the first message, if its note is safe. Messages whose
// sessions take no more requests return to their queues.
func (l *Lane) nextNoted(now int64) (slot *Slot) {
	n := &l.noting
	if n.dropped {
		n.dropped = false
		n.waiting, n.first = slices.Delete(n.waiting, 0, n.first), 0
		n.waiting = slices.DeleteFunc(n.waiting, func(w notedSlot) bool {
			if w.slot.Outlet.takesMore() {
				return false
			}
			l.Unsent(now, w.slot)
			return true
		})
	}
	if n.first < len(n.waiting) && l.policy.Notes.IsNoted(n.waiting[n.first].note) {
		slot = n.waiting[n.first].slot
		n.waiting[n.first] = notedSlot{}
		n.first++
	}
	if n.first == len(n.waiting) {
		n.waiting, n.first = n.waiting[:0], 0
	}
	return slot
}
