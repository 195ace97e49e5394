package connector

import (
	"slices"
	"time"

	"pmg/config"
)

// intents holds slots until the store has recorded that their messages are about to be sent. With
// on_unknown: fail a message must not be sent again if the gateway is killed before the peer's
// answer.
type intents struct {
	waiting []intent // from first on, in the order of their intents
	first   int
	dropped bool // a session takes no more requests, and some of these slots may be its own

	passed []*Slot // slots whose messages leave after a plugin was asked about them; in the order of its answers
}

// An intent is a slot and the number by which the store knows that its message is about to leave.
type intent struct {
	slot  *Slot
	token uint64
}

// add adds a slot. The slots that have left are removed when they are more than those that wait.
func (n *intents) add(slot *Slot, token uint64) {
	if n.first > len(n.waiting)/2 {
		n.waiting = slices.Delete(n.waiting, 0, n.first)
		n.first = 0
	}
	n.waiting = append(n.waiting, intent{slot, token})
}

// Next removes and returns the next slot. Either the slot holds a message that must be
// sent, or it has no session and its instance must be connected. If Next returns nil,
// nothing can be done now. Then again is the time of the next call, or 0 if only another
// event allows one.
func (l *Lane) Next(now int64) (slot *Slot, again int64) {
	if len(l.Window.intents.waiting) > 0 {
		if slot = l.nextStored(now); slot != nil {
			return slot, 0
		}
	}
	for kept := 0; ; {
		if slot = l.Window.intents.nextPassed(l, now); slot == nil {
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
		if !l.storesIntents() {
			return slot, 0
		}
		token := l.policy.Intents.Leaves(l, slot.Message)
		if token == 0 {
			return slot, 0
		}
		l.Window.intents.add(slot, token)
	}
}

// storesIntents reports whether messages leave only after the store has their intents.
func (l *Lane) storesIntents() bool { return l.Config().OnUnknown == config.Fail }

// nextStored returns the slot of the first message, if its intent is safe. Messages whose
// sessions take no more requests return to their queues.
func (l *Lane) nextStored(now int64) (slot *Slot) {
	n := &l.Window.intents
	if n.dropped {
		n.dropped = false
		n.waiting, n.first = slices.Delete(n.waiting, 0, n.first), 0
		n.waiting = slices.DeleteFunc(n.waiting, func(w intent) bool {
			if w.slot.Outlet.takesMore() {
				return false
			}
			l.Unsent(now, w.slot)
			return true
		})
	}
	if n.first < len(n.waiting) && l.policy.Intents.IsStored(n.waiting[n.first].token) {
		slot = n.waiting[n.first].slot
		n.waiting[n.first] = intent{}
		n.first++
	}
	if n.first == len(n.waiting) {
		n.waiting, n.first = n.waiting[:0], 0
	}
	return slot
}
