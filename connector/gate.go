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
	// IsOpen reports whether messages that leave by the lane need no decision of a plugin.
	IsOpen(l *Lane) bool
	// Check decides about the message of a slot. If it returns Waits, a plugin is asked on another
	// goroutine, and Slot.Pass is called later with the decision. Until then the slot counts as under
	// way, so that the window limits how many messages wait.
	Check(now int64, s *Slot) Passage
	// Hold puts a message aside for an operator, after the decision Held.
	Hold(l *Lane, m *sms.Message, why string)
}

// A Passage is the decision about a message that is about to leave.
type Passage struct {
	Way     Way
	Message *sms.Message // a copy that is sent, held or ended in place of the message; nil: there is no copy
	Code    sms.Code     // only with Refused: the code with which the message ends
	Until   int64        // only with Returns: when a plugin is asked again
	Why     string       // only with Held: the reason
}

// A Way is the kind of decision about a message that is about to leave.
type Way uint8

// The ways.
const (
	Leaves  Way = iota // the message is sent
	Waits              // the decision follows later
	Returns            // the message returns to its queue, and a plugin is asked again after a time
	Held               // the message is put aside, and an operator decides about it
	Refused            // the message ends with a code
)

// Leaving returns the message to send to the slot's peer: the original, or the copy that plugins
// changed for this attempt.
func (s *Slot) Leaving() *sms.Message {
	if s.Changed != nil {
		return s.Changed
	}
	return s.Message
}

// Pass applies the decision about the message of a slot, after Check returned Waits. Only the
// lane's dispatching goroutine may call it.
func (s *Slot) Pass(now int64, p Passage) {
	if n := &s.Share.Lane.Window.intents; s.passes(now, p) {
		n.passed = append(n.passed, s)
	}
}

// passes applies the decision about the message of a slot, and reports whether the message leaves.
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
	if l.isEnded(now, m) { // ended meanwhile, by a late answer or by its validity period
		p.Message.Release()
		l.Unsent(now, s)
		return false
	}
	if m.Sends < math.MaxUint8 {
		m.Sends--
	}
	p.Message.Sends = m.Sends
	l.Window.putBack(s, sms.Lost) // Lost, because the peer has not answered
	if p.Way == Held {
		l.policy.Gate.Hold(l, p.Message, p.Why)
		l.drop(share, m)
	} else {
		l.settled(share, m, p.Message, sms.Answer{Code: p.Code, At: now}, 0)
	}
	p.Message.Release()
	return false
}

// mostKept is how many messages in succession may be kept from leaving before other lanes get their
// turn.
const mostKept = 500

// nextPassed removes and returns the next slot whose message may leave after a plugin was asked. It
// returns nil if there is no such slot. A message that must not leave any more returns to its
// queue.
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
