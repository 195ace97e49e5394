package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/sms"
)

// An entrance has the messages that come take their steps, and accepts or refuses them.
type entrance[R any] struct {
	*waitRoom[R]
	receipts   *finder[R]
	behind     *backlog[R]
	submission intake.Submission
}

// message has a message take its steps, and accepts or refuses it.
func (e *entrance[R]) message(now int64, l *connector.Link, r R) {
	s := &e.submission
	*s = intake.Submission{Way: intake.Submitted, From: &l.Source, Session: l, PDU: e.port.PDU(r), Room: e.waitRoom}
	if l.Account == nil {
		s.Way = intake.Delivered
	}
	e.take(now, l, r, s)
}

// take has a submission take its steps from the next one on.
func (e *entrance[R]) take(now int64, l *connector.Link, r R, s *intake.Submission) {
	e.submitting = r
	switch v := e.desk.intake.Take(now, s); {
	case v == intake.Later && s.Work != nil:
		own := *s // the next submission is another one
		e.workFor(l, r, &own, func(now int64) { e.take(now, l, r, &own) })
	case v == intake.Later:
	case v == intake.Refuse:
		s.Drop()
		e.answerRefusal(now, l, r, s.Code, s.After)
	case s.Message.Kind == sms.Receipt:
		e.receipts.receipt(now, l, r, s.Message)
	default:
		e.accept(now, Pending[R]{Accepted: s.Accepted(), Link: l, Request: r, After: s.After})
	}
}

// workFor has the work of a submission done on another goroutine, and then calls goOn. The
// session's PDUs wait behind it, so that its messages stay in order.
func (e *entrance[R]) workFor(l *connector.Link, r R, s *intake.Submission, goOn func(now int64)) {
	l.Undecided = true
	e.beside(l, r, func() { s.Code, s.Work = s.Work(), nil }, func(int64) { s.Drop() }, func(now int64) {
		l.Undecided = false
		goOn(now)
		e.behind.goOn(now, l)
	})
}
