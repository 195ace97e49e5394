package connector

import (
	"slices"

	"pmg/protocols"
	"pmg/sms"
)

// An Inquiry is an operation that the lane's peer is asked to perform on a message that it has
// accepted. An inquiry takes a slot, as a message does. Unlike a message, it is in no queue, waits
// for no new session, is sent only once, and is not counted.
type Inquiry struct {
	Request  protocols.Request
	Deadline int64 // the inquiry is not sent after this time

	// Done is called once by the lane's dispatching goroutine, unless the lane ends before. It must not
	// block. If code is sms.OK, Result is the result of the answer.
	Done   func(code sms.Code)
	Result protocols.Result
}

// asking is the lane's state of operations. Operations may use a quarter of the slots and alternate
// with messages, so that messages leave however many operations clients request.
type asking struct {
	waiting  []*Inquiry
	share    *Share // the share to which the operations' slots are assigned
	underWay int
	wasLast  bool  // the last request to leave was an operation, so a message goes next
	rests    int64 // no operation is sent before this time
}

const (
	inquiryShare = 4 // operations may use one slot in inquiryShare
	inquiryRest  = 4 // for how many times response_timeout a peer that has not answered an operation is sent no other operation
)

// Ask sends an operation to a lane's peer. The operation fails if the lane has no session, or if
// the peer has recently left another operation unanswered.
func (l *Lane) Ask(a *Inquiry) {
	if l.Window.online.Load() == 0 {
		a.Done(sms.Lost)
		return
	}
	if l.Window.asking.share == nil {
		l.Window.asking.share = &Share{Lane: l}
	}
	l.Window.asking.waiting = append(l.Window.asking.waiting, a)
}

// next takes and returns the slot for the next operation. It returns nil if no operation can be
// sent now.
func (a *asking) next(l *Lane, now int64) *Slot {
	a.end(l, now)
	front := l.Window.slots.Front()
	if len(a.waiting) == 0 || front == nil || front.Outlet == nil ||
		a.underWay >= max(1, l.Window.allowed()/inquiryShare) {
		return nil
	}
	q := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	a.underWay++
	slot := l.Window.slots.Take()
	slot.Message, slot.Share, slot.Inquiry = q.Request.Message, a.share, q
	return slot
}

// answered takes back the slot of an operation that was answered.
func (a *asking) answered(l *Lane, slot *Slot, answer sms.Answer) {
	q := slot.Inquiry
	a.underWay--
	switch answer.Code {
	case sms.Timeout:
		a.rests = answer.At + inquiryRest*int64(l.Config().ResponseTimeout)
	case sms.Lost:
	default:
		a.rests = 0
	}
	l.Window.putBack(slot, answer.Code)
	q.Done(answer.Code)
}

// end ends the operations that have waited too long. It ends all operations if no session is left,
// or if the peer is not sent operations now.
func (a *asking) end(l *Lane, now int64) {
	if len(a.waiting) == 0 {
		return
	}
	all := l.Window.online.Load() == 0 || now < a.rests
	a.waiting = slices.DeleteFunc(a.waiting, func(q *Inquiry) bool {
		over := all || now > q.Deadline
		if over {
			q.Done(sms.Lost)
		}
		return over
	})
}
