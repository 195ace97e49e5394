package session

import (
	"slices"

	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// An entrance is where the messages of PDUs come in.
type entrance[R any] struct {
	sessions   *Sessions
	port       Port[R]
	room       *waitRoom[R]
	executor   *executor[R]
	acceptor   *accept.Acceptor[Sender[R]]
	submission intake.Submission
}

func (e *entrance[R]) message(now int64, l *connector.Link, r R) {
	s := &e.submission
	*s = intake.Submission{
		Way: intake.Submitted, From: &l.Source, Session: l, PDU: e.port.PDU(r), Room: e.acceptor.Room(),
		Waits: l.Hosted.By == nil, // others would wait behind it on its connection, and its client can retry
	}
	if l.Account == nil { // waiting would delay the answers to our own requests
		s.Way, s.Waits = intake.Delivered, false
	}
	e.acceptor.Submit(now, Sender[R]{l, r}, s)
}

// ended goes on with a message when its commit has ended with a code.
func (e *entrance[R]) ended(now int64, p Pending[R], code sms.Code) {
	e.acceptor.Ended(now, p, code)
	e.executor.Release(now, p.By)
}

// roomIn accepts the submits that wait for room in a lane, as far as there is room.
func (e *entrance[R]) roomIn(now int64, lane *connector.Lane) {
	for _, s := range slices.Clone(e.room.pressed) {
		if s.Lane == lane {
			e.letIn(now, s)
		}
	}
}

// tick accepts or refuses submits that have waited, and receipts whose turn has come.
func (e *entrance[R]) tick(now int64) {
	e.acceptor.Tick(now)
	for _, s := range slices.Clone(e.room.pressed) {
		e.letIn(now, s)
	}
}

func (e *entrance[R]) letIn(now int64, s *connector.Share) {
	b := e.room.pressure[s]
	b.LetIn(now, func(m *sms.Message) bool {
		return e.sessions.keep.MayStore() && e.acceptor.Room().Fits(keep.Accepted{Message: m, Share: s})
	}, func(l *connector.Link, m *sms.Message, r R, after int64) {
		e.sessions.waitForRoom(l, s, m, -1)
		e.acceptor.Accept(now, Pending[R]{
			Accepted: keep.Accepted{Message: m, Share: s}, From: &l.Source, By: Sender[R]{l, r}, After: after,
		})
	}, func(l *connector.Link, m *sms.Message, r R) {
		e.sessions.waitForRoom(l, s, m, -1)
		e.sessions.intake.LogNoRoom(now, &l.Source, s)
		e.room.refuse(now, l, m, r)
	})
	e.room.relieve(s, b)
}

// over forgets the receipts of a session that is over which wait for others.
func (e *entrance[R]) over(l *connector.Link) {
	e.acceptor.Forget(func(s Sender[R]) bool {
		if s.Link == l {
			e.port.Drop(l, s.Request)
		}
		return s.Link == l
	})
}
