package session

import (
	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// messages accepts a submit to several recipients, each of which gets a message of its own.
// The client is answered when all are stored; the answer names the recipients that are
// refused, or has the first refusal if all are. None waits for room, because the others
// would wait with it.
func (e *entrance[R]) messages(now int64, l *connector.Link, r R, recipients int) {
	e.recipients(now, l, r, &intake.Several{All: make([]keep.Accepted, 0, recipients), Recipients: recipients})
}

// recipients goes on with the next recipient.
func (e *entrance[R]) recipients(now int64, l *connector.Link, r R, v *intake.Several) {
	pdu := e.port.PDU(r)
	for v.Next < v.Recipients {
		l.Can.Recipients.To(pdu, v.Next)
		v.Next++
		e.submission = intake.Submission{
			Way: intake.Submitted, From: &l.Source, Session: l, PDU: pdu, Others: v, Room: e.acceptor.Room(),
		}
		if !e.recipient(now, l, r, v, &e.submission) {
			return
		}
	}
	v.Forget()
	if len(v.All) == 0 {
		e.executor.Answer(now, Sender[R]{l, r}, accept.Outcome{Code: v.Refusal, Each: string(v.Reasons), After: v.After})
		return
	}
	e.port.IsRefusal(r, sms.Refusal{Each: string(v.Reasons)})
	e.acceptor.Accept(now, Pending[R]{Accepted: v.All[0], More: v.All[1:], From: &l.Source, By: Sender[R]{l, r}, After: v.After})
}

// recipient runs the steps of the message to a recipient. It returns false if the steps go on later.
// The other recipients wait until then.
func (e *entrance[R]) recipient(now int64, l *connector.Link, r R, v *intake.Several, s *intake.Submission) (goesOn bool) {
	switch e.sessions.intake.Take(now, s) {
	case intake.Later:
		later := *s
		e.executor.GoInOrder(Sender[R]{l, r}, later.Do, func(now int64, gone bool) {
			if gone {
				later.Drop()
				v.Drop(&l.Source)
			} else if e.recipient(now, l, r, v, &later) {
				e.recipients(now, l, r, v)
			}
		})
		return false
	case intake.Refuse:
		s.Drop()
		l.Can.Recipients.Refuse(e.port.PDU(r), s.Code)
		v.Refuse(s.Code, s.Refuser(e.sessions.intake))
	default:
		v.Add(s.Accepted())
	}
	v.After = max(v.After, s.After)
	return true
}
