package session

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A replies sends answers to peers, immediately or later, and ends sessions after their answers.
type replies[R any] struct {
	sessions  *Sessions
	port      Port[R]
	behind    *backlog[R]
	delayed   connector.Delayed[R]
	postponed map[*connector.Link]sessionEnd[R] // ends of sessions that wait for pending commits
}

// A sessionEnd is the end of a session that waits for the commits of the session's messages, because the
// answers to these are sent first.
type sessionEnd[R any] struct {
	request R // the PDU to send then
	send    bool
	last    bool
	reason  string
}

// send sends an answer to the peer, but not before the time after.
func (p *replies[R]) send(now int64, l *connector.Link, r R, after int64) {
	if after <= now {
		p.write(now, l, r)
		return
	}
	p.delayed.Add(after, l, r)
	p.port.TickAt(after)
}

// write sends an answer now. A session with a Host goes on with its next request, or ends.
func (p *replies[R]) write(now int64, l *connector.Link, r R) {
	if l.Hosted.By == nil {
		p.port.Send(now, l, r, false, "")
		return
	}
	const reason = "the client asked for the end of the connection"
	last := p.port.PDU(r).(protocols.Pair).Last()
	if last {
		l.Enter(connector.Ended)
		l.Explain(reason)
	}
	p.port.Send(now, l, r, last, reason)
	if l.Hosted.Answering {
		l.Hosted.Answering = false
		l.Hosted.By.Rest()
		p.behind.goOn(now, l)
	}
}

// answer answers a submit. The session may have ended while the submit waited.
func (p *replies[R]) answer(now int64, l *connector.Link, r R, code sms.Code, id uint64, after int64) {
	l.Session.Answer(p.port.PDU(r), code, id)
	p.port.IsAbout(r, id)
	p.send(now, l, r, after)
}

// refuse answers a submit that a step has refused.
func (p *replies[R]) refuse(now int64, l *connector.Link, r R, why sms.Refusal, after int64) {
	p.port.IsRefusal(r, why)
	p.answer(now, l, r, why.Code, 0, after)
}

// undecided ends a session without answering a request, because it is not known whether the
// request's message was stored. Without an answer the peer must assume that the message may have
// been accepted.
func (p *replies[R]) undecided(now int64, l *connector.Link, r R) {
	p.close(now, l, r, "the disk has failed, and it is not known whether a request was stored")
}

// beside calls the function work for a request on another goroutine, and then calls goOn. Until then the gateway
// does not end the session. If the session has ended nevertheless, over is called instead of goOn,
// and the request is dropped.
func (p *replies[R]) beside(l *connector.Link, r R, work func(), over, goOn func(now int64)) {
	l.Storing++
	p.port.Check(l, r, work, func(now int64) {
		l.Storing--
		if l.Phase == connector.Over {
			over(now)
			p.port.Drop(l, r)
			return
		}
		goOn(now)
		if l.Storing == 0 {
			p.letGo(now, l)
		}
	})
}

// postpone delays the end or the logout of a session while messages of the session wait for their
// commit. It reports whether it has delayed the end.
func (p *replies[R]) postpone(l *connector.Link, h sessionEnd[R]) bool {
	if l.Storing == 0 {
		return false
	}
	if earlier, ok := p.postponed[l]; ok && earlier.send { // a logout was postponed, and now the session ends
		p.port.Drop(l, earlier.request)
	}
	p.postponed[l] = h
	return true
}

// letGo carries out a postponed end of a session.
func (p *replies[R]) letGo(now int64, l *connector.Link) {
	h, ok := p.postponed[l]
	if !ok {
		return
	}
	delete(p.postponed, l)
	if h.send {
		p.port.Send(now, l, h.request, h.last, h.reason)
	} else {
		p.port.Hangup(l, h.reason)
	}
}

// close ends a session after its answers are sent, and releases the PDU r.
func (p *replies[R]) close(now int64, l *connector.Link, r R, reason string) {
	if l.HasEnded() {
		p.port.Drop(l, r)
		return
	}
	l.Enter(connector.Ended)
	l.Explain(reason)
	p.port.LoggingOut(now, l)
	if !p.postpone(l, sessionEnd[R]{reason: reason}) {
		p.port.Hangup(l, reason)
	}
	p.port.Drop(l, r)
}

// tick sends the answers that are due.
func (p *replies[R]) tick(now int64) {
	for l, r, ok := p.delayed.Due(now); ok; l, r, ok = p.delayed.Due(now) {
		if l.EndReason == "" {
			p.write(now, l, r)
		} else {
			p.port.Send(now, l, r, true, l.EndReason)
		}
	}
}

// over drops the delayed answers and the postponed end of a session that is over.
func (p *replies[R]) over(l *connector.Link) {
	if h, ok := p.postponed[l]; ok && h.send {
		p.port.Drop(l, h.request)
	}
	delete(p.postponed, l)
	p.delayed.Take(l, func(r R) { p.port.Drop(l, r) })
}
