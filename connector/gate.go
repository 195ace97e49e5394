package connector

import (
	"math"

	"pmg/sms"
)

// A Gate asks plugins about the messages that leave for SMSCs.
//
//	           Check, Leaves
//	slot ───────────────────────────────► intent, given to its courier
//	 │         Waits            Pass, Leaves ▲
//	 └────────► a plugin is asked ───────────┤
//	                                         └─► queue (Returns), aside (Held), ended (Refused)
type Gate interface {
	// IsOpen reports whether no plugin is asked about what leaves by a lane.
	IsOpen(l *Lane) bool
	// Check decides about the message of a slot. With Waits another goroutine asks, and Slot.Pass follows: until then the
	// slot counts as under way, so that the window bounds how many messages wait.
	Check(now int64, s *Slot) Passage
	// Hold puts a message aside about which Held was decided.
	Hold(l *Lane, m *sms.Message, why string)
}

// A Passage is what was decided about a message that is about to leave.
type Passage struct {
	Way     Way
	Message *sms.Message // a copy that leaves, is held or has ended in the message's place; nil: there is none
	Code    sms.Code     // with Refused
	Until   int64        // with Returns
	Why     string       // with Held
}

// A Way is where such a message goes.
type Way uint8

// The ways.
const (
	Leaves  Way = iota // it is sent
	Waits              // that is not decided yet
	Returns            // it returns to its queue, and is asked about again after a time
	Held               // an operator decides about it
	Refused            // it ends with a code
)

// Leaving returns what the peer of a slot gets: its message, or what plugins have made of that for this attempt.
func (s *Slot) Leaving() *sms.Message {
	if s.Changed != nil {
		return s.Changed
	}
	return s.Message
}

// Pass does what was decided about the message of a slot after Waits. Only the lane's dispatching goroutine may call it.
func (s *Slot) Pass(now int64, p Passage) {
	if n := &s.Share.Lane.Window.intents; s.passes(now, p) {
		n.passed = append(n.passed, s)
	}
}

// passes does what was decided, and reports whether the message leaves.
func (s *Slot) passes(now int64, p Passage) bool {
	l, share, m := s.Share.Lane, s.Share, s.Message
	switch p.Way {
	case Leaves:
		s.Changed = p.Message
		return true
	case Waits:
		return false
	case Returns:
		m.NotBefore = p.Until
		l.Unsent(now, s)
		return false
	}
	if l.isEnded(now, m) { // meanwhile, by a late answer or its validity
		p.Message.Release()
		l.Unsent(now, s)
		return false
	}
	if m.Sends < math.MaxUint8 {
		m.Sends--
	}
	p.Message.Sends = m.Sends
	l.Window.putBack(s, sms.Lost) // because the peer has not answered
	if p.Way == Held {
		l.policy.Gate.Hold(l, p.Message, p.Why)
		l.drop(share, m)
	} else {
		l.settled(share, m, p.Message, sms.Answer{Code: p.Code, At: now}, 0)
	}
	p.Message.Release()
	return false
}

// mostKept is how many messages may be kept from leaving until other lanes have their turn.
const mostKept = 500

// nextPassed removes and returns the next slot whose message leaves after it was asked about, nil if there is none. What
// must not leave any more returns to its queue.
func (n *intents) nextPassed(l *Lane, now int64) *Slot {
	for len(n.passed) > 0 {
		s := n.passed[0]
		n.passed = n.passed[1:]
		held, _ := l.Throttle.holds(now)
		if s.Outlet.takesMore() && !held && !l.isEnded(now, s.Message) {
			return s
		}
		l.Unsent(now, s)
	}
	return nil
}
