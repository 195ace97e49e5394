package session

import (
	"pmg/connector"
	"pmg/sms"
)

// A replies is what peers are sent: answers, now or later, and the end of a session behind its answers.
type replies[R any] struct {
	sessions  *Sessions
	port      Port[R]
	delayed   connector.Delayed[R]
	postponed map[*connector.Link]sessionEnd[R] // what waits for the commits that are due to sessions
}

// A sessionEnd is done to a session when it waits for no commit any more, because its answers come
// before.
type sessionEnd[R any] struct {
	request R // what is sent then
	send    bool
	last    bool
	reason  string
}

// send sends an answer, immediately or at its due time.
func (p *replies[R]) send(now int64, l *connector.Link, r R, after int64) {
	if after <= now {
		p.port.Send(now, l, r, false, "")
		return
	}
	p.delayed.Add(after, l, r)
	p.port.TickAt(after)
}

// answer answers a submit. The session may have ended while that waited.
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

// undecided ends a session without an answer to a request, of which it is not known whether it was stored. Its peer takes a
// request without an answer for one that may have been carried out.
func (p *replies[R]) undecided(now int64, l *connector.Link, r R) {
	p.close(now, l, r, "the disk has failed, and it is not known whether a request was stored")
}

// beside runs work for a request on another goroutine, and then calls goOn. The session does not end
// meanwhile, because its answers come before. If it is over all the same, over is called instead, and the
// request is dropped.
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

// postpone keeps back what ends a session, or begins to, while messages of the session
// wait for their commit. It reports whether it does.
func (p *replies[R]) postpone(l *connector.Link, h sessionEnd[R]) bool {
	if l.Storing == 0 {
		return false
	}
	if earlier, ok := p.postponed[l]; ok && earlier.send { // our logout, and now the session ends
		p.port.Drop(l, earlier.request)
	}
	p.postponed[l] = h
	return true
}

// letGo does what was kept back.
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

// close ends a session when its answers are on their way, and releases the PDU r.
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
		p.port.Send(now, l, r, l.EndReason != "", l.EndReason)
	}
}

// over forgets what was to be sent in a session that is over.
func (p *replies[R]) over(l *connector.Link) {
	if h, ok := p.postponed[l]; ok && h.send {
		p.port.Drop(l, h.request)
	}
	delete(p.postponed, l)
	p.delayed.Take(l, func(r R) { p.port.Drop(l, r) })
}
