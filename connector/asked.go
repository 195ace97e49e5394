package connector

import (
	"slices"

	"pmg/protocols"
	"pmg/sms"
)

// An Asked is an operation that a lane's peer is asked for, about a message that it has
// accepted. It takes a slot like a message. It is not one: it is in no queue, waits for no
// other session than those there are, is sent once, and is not counted.
type Asked struct {
	Request  protocols.Request
	Deadline int64 // it does not leave after this time

	// Done is called once, by whatever dispatches for the lane, unless the lane ends before. It
	// must not block. Result is that of the answer if the code is sms.OK.
	Done   func(code sms.Code)
	Result protocols.Result
}

// asking is what a lane knows of operations.
type asking struct {
	waiting []*Asked
	share   *Share // of their slots
}

// Ask has a lane's peer asked. The operation goes before all messages, and fails if the lane has
// no session.
func (l *Lane) Ask(a *Asked) {
	if l.online.Load() == 0 {
		a.Done(sms.Lost)
		return
	}
	if l.asking.share == nil {
		l.asking.share = &Share{Lane: l}
	}
	l.asking.waiting = append(l.asking.waiting, a)
}

// nextAsked takes and returns the slot for the next operation, or nil if there is none now.
func (l *Lane) nextAsked(now int64) *Slot {
	l.endAsked(now)
	front := l.slots.Front()
	if len(l.asking.waiting) == 0 || front == nil || front.Link == nil {
		return nil
	}
	a := l.asking.waiting[0]
	l.asking.waiting = slices.Delete(l.asking.waiting, 0, 1)
	slot := l.slots.Take()
	slot.Message, slot.Share, slot.Asked = a.Request.Message, l.asking.share, a
	return slot
}

// answeredAsked takes back the slot of an operation.
func (l *Lane) answeredAsked(slot *Slot, answer sms.Answer) {
	a := slot.Asked
	l.putBack(slot, answer.Code)
	a.Done(answer.Code)
}

// endAsked ends the operations that have waited for too long, and all if no session is left.
func (l *Lane) endAsked(now int64) {
	if len(l.asking.waiting) == 0 {
		return
	}
	offline := l.online.Load() == 0
	l.asking.waiting = slices.DeleteFunc(l.asking.waiting, func(a *Asked) bool {
		over := offline || now > a.Deadline
		if over {
			a.Done(sms.Lost)
		}
		return over
	})
}
