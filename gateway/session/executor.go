package session

import (
	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// A Pending is a message that was accepted, between its acceptance and its commit.
type Pending[R any] struct {
	keep.Accepted
	More    []keep.Accepted // that came of the same PDU; they are stored in the same commit
	Link    *connector.Link // on which it came
	Request R               // the PDU that carried it
	After   int64           // that is not answered before this time
}

// accepted returns it as an Acceptor knows it.
func (p *Pending[R]) accepted() accept.Pending[sender[R]] {
	by := sender[R]{p.Link, p.Request}
	return accept.Pending[sender[R]]{Accepted: p.Accepted, More: p.More, From: &p.Link.Source, By: by, After: p.After}
}

// A sender is a session, and the PDU that it has sent.
type sender[R any] struct {
	link    *connector.Link
	request R
}

// An executor goes on with the messages of sessions where their PDUs are received.
type executor[R any] struct {
	port    Port[R]
	replies *replies[R]
	room    *waitRoom[R]
	behind  *backlog[R]
}

// Go implements accept.Executor. The session does not end meanwhile, unless its peer ends it.
func (x *executor[R]) Go(s sender[R], work func(), then func(now int64, gone bool)) {
	x.replies.beside(s.link, s.request, work, func(now int64) { then(now, true) }, func(now int64) { then(now, false) })
}

// GoInOrder implements accept.Executor.
func (x *executor[R]) GoInOrder(s sender[R], work func(), then func(now int64, gone bool)) {
	s.link.Undecided = true
	x.Go(s, work, func(now int64, gone bool) {
		if gone {
			then(now, true)
			return
		}
		s.link.Undecided = false
		then(now, false)
		x.behind.goOn(now, s.link)
	})
}

// Wait implements accept.Executor.
func (x *executor[R]) Wait(now int64, s sender[R], sub *intake.Submission) bool {
	return x.room.wait(now, s, sub)
}

// InTurn implements accept.Executor. All receipts of sessions come on one goroutine.
func (x *executor[R]) InTurn([]byte) {}

// Hold implements accept.Executor.
func (x *executor[R]) Hold(s sender[R]) { s.link.Storing++ }

// Release implements accept.Executor.
func (x *executor[R]) Release(now int64, s sender[R]) {
	if s.link.Storing--; s.link.Storing == 0 {
		x.replies.letGo(now, s.link)
	}
}

// Store implements accept.Executor.
func (x *executor[R]) Store(now int64, p accept.Pending[sender[R]]) {
	p.By.link.Storing++
	x.port.Store(now, Pending[R]{p.Accepted, p.More, p.By.link, p.By.request, p.After})
}

// Queue implements accept.Executor.
func (x *executor[R]) Queue(now int64, a keep.Accepted) { x.port.Queue(now, a.Share, a.Message) }

// Answer implements accept.Executor. A session that is over hears nothing.
func (x *executor[R]) Answer(now int64, s sender[R], o accept.Outcome) {
	switch {
	case s.link.Phase == connector.Over:
		x.port.Drop(s.link, s.request)
	case o.Code == sms.Undecided:
		x.replies.undecided(now, s.link, s.request)
	case o.Code == sms.Throttled || o.Code == sms.QueueFull:
		x.room.tooMuch(now, s.link, s.request, &o)
	case o.Code != sms.OK:
		x.replies.refuse(now, s.link, s.request, o.Refusal(), o.After)
	default:
		x.replies.answer(now, s.link, s.request, o.Code, o.ID, o.After)
	}
}
