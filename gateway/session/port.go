package session

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A Port gives a conversation access to the architecture that moves the octets. It has many methods because
// they belong together: each architecture implements all of them, once.
type Port[R any] interface {
	// New returns an empty request, for a PDU that we send.
	New(l *connector.Link) R
	// PDU returns the PDU of a request.
	PDU(r R) protocols.PDU
	// Send logs and writes the PDU of a request, and releases the request. With
	// last, the session ends when the PDU is written; reason says why.
	Send(now int64, l *connector.Link, r R, last bool, reason string)
	// IsAbout records which message the answer to a request is about, for the pdu log.
	IsAbout(r R, id uint64)
	// IsRefusal records for the pdu log why the answer to a request refuses its message, its operation, or some recipients.
	IsRefusal(r R, why sms.Refusal)
	// Drop releases a request without an answer.
	Drop(l *connector.Link, r R)
	// HandOver ends a session whose Host gets the connection back, with the octets of the requests that it was called with,
	// and with those behind them. It releases the request.
	HandOver(l *connector.Link, r R)
	// Hangup ends a session.
	Hangup(l *connector.Link, reason string)
	// Check runs check, which may take long, on another goroutine, and then calls then
	// where the session's PDUs are received. r is then's.
	Check(l *connector.Link, r R, check func(), then func(now int64))
	// Store begins to commit a message, and calls Stored when that has ended.
	Store(now int64, p Pending[R])
	// Queue gives a message that was accepted to its lane.
	Queue(now int64, s *connector.Share, m *sms.Message)
	// Answered hands the outcome of one of our requests to its lane, and releases r,
	// the answer.
	Answered(now int64, l *connector.Link, r R, slot *connector.Slot, code sms.Code)
	// AnsweredLate does the same for a request that had been given up as unanswered.
	AnsweredLate(now int64, l *connector.Link, r R, u connector.Unanswered, code sms.Code)
	// Unanswered returns a request that was not answered in time to its lane.
	Unanswered(now int64, slot *connector.Slot)
	// Bound adds a session that has logged in to the lane. takes reports whether messages can be
	// sent on it.
	Bound(now int64, l *connector.Link, takes bool)
	// LoggingOut stops the lane from sending on a session. Quiet must be called when all messages
	// that were sent on it have their outcome.
	LoggingOut(now int64, l *connector.Link)
	// Logout begins to log out the sessions for which match returns true. Those of other conversations are logged
	// out a little later. match is called on the goroutine of a session's conversation, so several goroutines may
	// call it at the same time.
	Logout(match func(*connector.Link) bool)
	// TickAt asks for a call of Tick at the given time.
	TickAt(at int64)
}
