package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/protocols"
	"pmg/sms"
)

// maxOperating is how many operations of a session may be under way.
const maxOperating = 16

// operate carries out what a client asks about messages that it has submitted. Like a
// submit, that counts towards the account's rate, and is answered before the session ends.
func (c *Conversation[R]) operate(now int64, l *connector.Link, r R) {
	after, step, ok := c.admit(now, l)
	if l.Revoked {
		c.answerOperation(now, l, r, sms.BadState, "", nil, after)
		return
	}
	if !ok || l.Account == nil || l.Operating >= maxOperating || !c.sessions.operate.MayBegin(l.Account) {
		c.answerOperation(now, l, r, sms.Throttled, step, nil, after)
		return
	}
	request, code := l.Can.Operations.Operation(c.sessions.node.Clock.Wall(now), c.port.PDU(r))
	if code != sms.OK {
		c.answerOperation(now, l, r, code, "", nil, after)
		return
	}
	c.sessions.convert.RewriteOperation(l, &request)
	o := c.sessions.operate.Begin(l.Account, l.Connector.Protocol, request)
	l.Operating++
	c.replies.beside(l, r, o.Run, func(int64) { l.Operating-- }, func(now int64) {
		l.Operating--
		c.port.IsAbout(r, o.Result.ID)
		c.answerOperation(now, l, r, o.Code, o.Step, &o.Result, after)
	})
}

func (c *Conversation[R]) answerOperation(
	now int64, l *connector.Link, r R, code sms.Code, step string, result *protocols.Result, after int64,
) {
	if code == sms.Undecided {
		c.replies.undecided(now, l, r)
		return
	}
	c.port.IsRefusal(r, sms.Refusal{Code: code, Step: step})
	l.Can.Operations.AnswerOperation(c.port.PDU(r), code, result)
	c.replies.send(now, l, r, after)
}

// admit asks the rate limit of the client's account to admit an operation, before any work is done
// for it. It returns the time before which the client must not be answered, and the step that refuses it.
func (c *Conversation[R]) admit(now int64, l *connector.Link) (after int64, step string, ok bool) {
	s := intake.Submission{From: &l.Source, Session: l}
	v := c.sessions.intake.StepRate(now, &s)
	if v != intake.Pass {
		return s.After, intake.RateStep, false
	}
	return s.After, "", true
}
