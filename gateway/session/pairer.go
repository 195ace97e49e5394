package session

import (
	"fmt"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/sms"
)

// A pairer pairs the answers of peers with our requests.
type pairer[R any] struct {
	sessions  *Sessions
	port      Port[R]
	replies   *replies[R]
	room      *waitRoom[R]
	answering *config.Connector // options of the connector to whose SMSC smsc belongs
	smsc      *receipts.SMSC
}

// answered pairs an answer with our request that it belongs to.
func (p *pairer[R]) answered(now int64, l *connector.Link, r R, a protocols.Action) {
	slot := l.Inflight.Take(a.Sequence)
	if a.NoNumber {
		if slot = p.unnumbered(now, l, a); slot == nil {
			p.port.Drop(l, r)
			return
		}
	}
	if slot != nil {
		l.Awaited(now - slot.Sent)
		code := codeOf(a, slot.Inquiry != nil)
		if a.Session && slot.Inquiry == nil {
			code = sms.BadState
			p.refused(now, l, a)
		}
		if slot.Inquiry != nil && code == sms.OK {
			var ok bool
			if slot.Inquiry.Result, ok = l.Can.Requester.Outcome(now, p.port.PDU(r), &slot.Inquiry.Request); !ok {
				code = sms.TemporaryFailure
			}
		}
		if code == sms.OK && slot.Inquiry == nil {
			p.recordAnswer(l, slot.Leaving(), p.port.PDU(r).MessageID())
		}
		p.port.Answered(now, l, r, slot, code)
		return
	}
	if a.Session {
		a.Code = sms.TemporaryFailure
	}
	if u, ok := l.Late(now, a.Sequence); ok {
		p.sessions.answeredLate(l)
		if u.Record != nil && codeOf(a, u.Asked) == sms.OK {
			p.sessions.receipts.RecordLate(l, u.Record, p.port.PDU(r).MessageID())
		}
		p.port.AnsweredLate(now, l, r, u, codeOf(a, u.Asked))
		return
	}
	l.Connector.Stats.Unmatched.Add(1)
	if l.Account != nil {
		if _, goesOn := p.room.presses(now, l, r); !goesOn {
			return
		}
	}
	p.port.Drop(l, r)
}

// codeOf returns the result in an answer to a request of ours. The request was an operation if
// asked is set. The answer to another kind of request has accepted nothing.
func codeOf(a protocols.Action, asked bool) sms.Code {
	if a.Code == sms.OK && a.Asked != asked {
		return sms.TemporaryFailure
	}
	return a.Code
}

// recordAnswer records that an SMSC has accepted a message with this id, before the next PDU of the session is handled.
// So a receipt finds the message even before the answer is in the store.
func (p *pairer[R]) recordAnswer(l *connector.Link, m *sms.Message, id []byte) {
	if l.Account != nil || m.Kind != sms.Submit || len(id) == 0 || len(m.Dest().Addr) == 0 {
		return // a client has accepted the message, or the answer has no id for receipts
	}
	cfg := l.Connector.Config()
	if cfg != p.answering {
		p.answering, p.smsc = cfg, p.sessions.receipts.Of(cfg)
	}
	p.sessions.receipts.RecordAnswer(p.smsc, cfg, m, id)
}

// refused begins to end a session because the SMSC takes no message in it: it has lost our login,
// for instance. The session gets no more messages, and ends when the others are answered.
func (p *pairer[R]) refused(now int64, l *connector.Link, a protocols.Action) {
	if l.LeavingAt != 0 || l.Phase == connector.Draining {
		return
	}
	l.TakesNothing = true
	l.Explain(fmt.Sprintf("the SMSC takes no messages in this session: it has answered one with status 0x%x (%s)",
		a.Status, l.Connector.Driver.StatusName(a.Status)))
	l.Enter(connector.Leaving)
	l.LeavingAt = now
	p.port.LoggingOut(now, l) // the lane calls Quiet later
}

// unnumbered returns the request that an answer without a sequence number is about, if exactly one
// is under way. With several, what the SMSC has read of them is not known, so the session ends.
func (p *pairer[R]) unnumbered(now int64, l *connector.Link, a protocols.Action) *connector.Slot {
	slot, n := l.Inflight.TakeOnly()
	switch {
	case slot != nil:
		return slot
	case n == 0:
		l.Connector.Stats.Unmatched.Add(1)
		return nil
	}
	reason := fmt.Sprintf("the peer cannot read one of %d requests, and does not say which: status 0x%x (%s)",
		n, a.Status, l.Connector.Driver.StatusName(a.Status))
	p.replies.close(now, l, p.port.New(l), reason)
	return nil
}
