package connector

import (
	"slices"
	"time"

	"pmg/config"
)

// intents holds slots until the store has recorded that their messages are about to be sent. It is
// needed for the option on_unknown: fail: a message must not be sent again if the gateway was
// killed before the peer answered.
type intents struct {
	waiting []intent // slots whose intents are not stored yet, from index first on, in the order of the intents
	first   int
	dropped bool // a session takes no more requests, and may own some of these slots

	passed []*Slot // slots whose messages may leave after a plugin was asked; in the order of the plugin's answers
}

// An intent is a slot and the token with which the store is asked whether the intent is stored.
type intent struct {
	slot  *Slot
	token uint64
}

// add adds a slot. It also discards slots that have left, if these are more than those that wait.
func (n *intents) add(slot *Slot, token uint64) {
	if n.first > len(n.waiting)/2 {
		n.waiting = slices.Delete(n.waiting, 0, n.first)
		n.first = 0
	}
	n.waiting = append(n.waiting, intent{slot, token})
}

// Next removes and returns the next slot. The slot either holds a message that must be sent, or has
// no session, so that its instance must be connected. If slot is nil, nothing can be done now. Then
// again is when to call Next again; 0 means that only another event makes a call useful.
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

// storesIntents reports whether messages leave only after their intents are stored.
func (l *Lane) storesIntents() bool { return l.Config().OnUnknown == config.Fail }

// nextStored returns the slot of the first message if its intent is stored, and otherwise nil.
// Messages whose sessions take no more requests return to their queues.
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
