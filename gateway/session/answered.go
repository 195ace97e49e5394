package session

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// answered pairs an answer with our request that it belongs to.
func (c *Conversation[R]) answered(now int64, l *connector.Link, r R, a protocols.Action) {
	slot := l.Inflight.Take(a.Sequence)
	if a.NoNumber {
		if slot = c.unnumbered(now, l, a); slot == nil {
			c.port.Drop(l, r)
			return
		}
	}
	if slot != nil {
		l.Awaited(now - slot.Sent)
		code := codeOf(a, slot.Asked != nil)
		if a.Session && slot.Asked == nil {
			code = sms.BadState
			c.refused(now, l, a)
		}
		if slot.Asked != nil && code == sms.OK {
			var ok bool
			if slot.Asked.Result, ok = l.Can.Requester.Outcome(now, c.port.PDU(r), &slot.Asked.Request); !ok {
				code = sms.TemporaryFailure
			}
		}
		if code == sms.OK && slot.Asked == nil {
			c.noteAnswer(l, slot.Message, c.port.PDU(r).MessageID())
		}
		c.port.Answered(now, l, r, slot, code)
		return
	}
	if a.Session {
		a.Code = sms.TemporaryFailure
	}
	if u, ok := l.Late(now, a.Sequence); ok {
		c.desk.answeredLate(l)
		if u.Note != nil && codeOf(a, u.Asked) == sms.OK {
			c.desk.receipts.NoteLate(l, u.Note, c.port.PDU(r).MessageID())
		}
		c.port.AnsweredLate(now, l, r, u, codeOf(a, u.Asked))
		return
	}
	l.Connector.Stats.Unmatched.Add(1)
	if l.Account != nil {
		if _, goesOn := c.presses(now, l, r); !goesOn {
			return
		}
	}
	c.port.Drop(l, r)
}

// codeOf returns what an answer says about a request of ours, which was for an operation if asked
// is set. The answer to another kind of request has accepted nothing.
func codeOf(a protocols.Action, asked bool) sms.Code {
	if a.Code == sms.OK && a.Asked != asked {
		return sms.TemporaryFailure
	}
	return a.Code
}

// noteAnswer notes an answer of an SMSC that has accepted a message, before anything that comes
// behind it on the session is looked at. So its receipt finds it, although the store does not know of it yet.
func (c *Conversation[R]) noteAnswer(l *connector.Link, m *sms.Message, id []byte) {
	if l.Account != nil || m.Kind != sms.Submit || len(id) == 0 || len(m.Dest().Addr) == 0 {
		return // a client has accepted it, or the answer names nothing that a receipt may be about
	}
	cfg := l.Connector.Config()
	if cfg != c.answering {
		c.answering, c.operator = cfg, c.desk.receipts.Of(cfg)
	}
	c.desk.receipts.NoteAnswer(c.operator, cfg, m, id)
}
