package connector

import (
	"slices"

	"pmg/protocols"
	"pmg/sms"
)

// An Inquiry is an operation that a lane's peer is asked for, about a message that it has
// accepted. It takes a slot like a message. It is not one: it is in no queue, waits for no
// other session than those there are, is sent once, and is not counted.
type Inquiry struct {
	Request  protocols.Request
	Deadline int64 // it does not leave after this time

	// Done is called once, by whatever dispatches for the lane, unless the lane ends before. It
	// must not block. Result is that of the answer if the code is sms.OK.
	Done   func(code sms.Code)
	Result protocols.Result
}

// asking is what a lane knows of operations. They may use a quarter of the slots, and take turns
// with the messages, so that messages leave however much clients ask.
type asking struct {
	waiting  []*Inquiry
	share    *Share // of their slots
	underWay int
	wasLast  bool  // an operation was the last to leave, so that messages go first now
	rests    int64 // nothing is asked for before this time
}

const (
	inquiryShare = 4 // one in so many slots may have an operation
	inquiryRest  = 4 // how many times response_timeout a peer is not asked that has not answered
)

// Ask sends an operation to a lane's peer. The operation fails if the lane has no session, or if
// the peer has not answered another one lately.
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

// next takes and returns the slot for the next operation, or nil if there is none now.
func (a *asking) next(l *Lane, now int64) *Slot {
	a.end(l, now)
	front := l.Window.slots.Front()
	if len(a.waiting) == 0 || front == nil || front.Outlet == nil ||
		a.underWay >= max(1, l.Window.Online()*l.Config().Window/inquiryShare) {
		return nil
	}
	q := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	a.underWay++
	slot := l.Window.slots.Take()
	slot.Message, slot.Share, slot.Inquiry = q.Request.Message, a.share, q
	return slot
}

// answered takes back the slot of an operation.
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

// end ends the operations that have waited for too long, and all if no session is left or the
// peer is not asked now.
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
