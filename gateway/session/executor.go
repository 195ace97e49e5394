package session

import (
	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// A Sender is a session, and the PDU that it has sent.
type Sender[R any] struct {
	Link    *connector.Link
	Request R
}

// Pending is an accepted message of a session whose commit has not ended.
type Pending[R any] = accept.Pending[Sender[R]]

// An executor goes on with the messages of sessions where their PDUs are received.
type executor[R any] struct {
	port    Port[R]
	replies *replies[R]
	room    *waitRoom[R]
	behind  *backlog[R]
}

// Go implements accept.Executor. While the work runs, only the peer can end the session.
func (x *executor[R]) Go(s Sender[R], work func(), then func(now int64, gone bool)) {
	x.replies.beside(s.Link, s.Request, work, func(now int64) { then(now, true) }, func(now int64) { then(now, false) })
}

// GoInOrder implements accept.Executor.
func (x *executor[R]) GoInOrder(s Sender[R], work func(), then func(now int64, gone bool)) {
	s.Link.Undecided = true
	x.Go(s, work, func(now int64, gone bool) {
		if gone {
			then(now, true)
			return
		}
		s.Link.Undecided = false
		then(now, false)
		x.behind.goOn(now, s.Link)
	})
}

// Wait implements accept.Executor.
func (x *executor[R]) Wait(now int64, s Sender[R], sub *intake.Submission) bool {
	return x.room.wait(now, s, sub)
}

// InTurn implements accept.Executor. Receipts of sessions come on one goroutine, or have accept.Turns, for which none waits.
func (x *executor[R]) InTurn([]byte) {}

// TickAt implements accept.Executor.
func (x *executor[R]) TickAt(at int64) { x.port.TickAt(at) }

// Hold implements accept.Executor.
func (x *executor[R]) Hold(s Sender[R]) { s.Link.Storing++ }

// Release implements accept.Executor.
func (x *executor[R]) Release(now int64, s Sender[R]) {
	if s.Link.Storing--; s.Link.Storing == 0 {
		x.replies.letGo(now, s.Link)
	}
}

// Store implements accept.Executor.
func (x *executor[R]) Store(now int64, p Pending[R]) {
	p.By.Link.Storing++
	x.port.Store(now, p)
}

// Queue implements accept.Executor.
func (x *executor[R]) Queue(now int64, a keep.Accepted) { x.port.Queue(now, a.Share, a.Message) }

// Answer implements accept.Executor. A session that is over hears nothing.
func (x *executor[R]) Answer(now int64, s Sender[R], o accept.Outcome) {
	switch {
	case s.Link.Phase == connector.Over:
		x.port.Drop(s.Link, s.Request)
	case o.Code == sms.Undecided:
		x.replies.undecided(now, s.Link, s.Request)
	case o.Code == sms.Throttled || o.Code == sms.QueueFull:
		x.room.tooMuch(now, s.Link, s.Request, &o)
	case o.Code != sms.OK:
		x.replies.refuse(now, s.Link, s.Request, o.Refusal(), o.After)
	default:
		x.replies.answer(now, s.Link, s.Request, o.Code, o.ID, o.After)
	}
}
