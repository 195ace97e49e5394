package session

import (
	"pmg/connector"
	"pmg/gateway/accept"
)

// A peer that goes on after refusals for now is slowed: connector.RefusalRate refusals of a session
// are answered a second, and further ones later and later. The refusals of one large window of a
// client are not delayed. A client whose answers would be very late is disconnected. An SMSC is
// answered within a second, because its messages for other clients wait behind the refused one.
const (
	patientRefusal = int64(5e9)
	longestRefusal = int64(10e9)
	longestOfSMSC  = int64(1e9)
)

// tooMuch answers a message that may be sent again, later.
func (w *waitRoom[R]) tooMuch(now int64, l *connector.Link, r R, o *accept.Outcome) {
	if wait, goesOn := w.presses(now, l, r); goesOn {
		w.replies.refuse(now, l, r, o.Refusal(), max(o.After, now+wait))
	}
}

// presses counts a PDU for which the gateway does nothing, and returns for how long an answer to it
// is to wait. It returns false if it has ended the session instead.
func (w *waitRoom[R]) presses(now int64, l *connector.Link, r R) (wait int64, goesOn bool) {
	wait = l.Refusals.Reserve(now)
	if l.Account == nil {
		return min(wait, longestOfSMSC), true
	}
	if l.Account.IsPressing(now, 1) {
		l.Pressing.Store(true)
	}
	if wait > patientRefusal+longestRefusal {
		w.settle(now, l)
		w.replies.close(now, l, r, "it goes on sending although its messages are refused")
		return 0, false
	}
	return max(wait-patientRefusal, 0), true
}
