package classic

import (
	"time"

	"pmg/connector"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
)

// A conn is the port of its own conversation. The session's lock is held in all of
// these methods.
var _ session.Port[*request] = (*conn)(nil)

// New implements session.Port.
func (c *conn) New(*connector.Link) *request { return c.newRequest() }

// PDU implements session.Port.
func (c *conn) PDU(r *request) protocols.PDU { return r.pdu }

// IsAbout implements session.Port.
func (c *conn) IsAbout(r *request, id uint64) { r.id = id }

// IsRefusal implements session.Port. The logs of the comparison leave the reason out.
func (c *conn) IsRefusal(*request, sms.Refusal) {}

// Send implements session.Port.
func (c *conn) Send(now int64, _ *connector.Link, r *request, last bool, reason string) {
	c.mu.Lock()
	if c.postLocked(now, r.pdu, nil, r.id) {
		c.last, c.reason = last, reason
	}
	c.loggedOut = c.loggedOut || c.LoggedOut
	c.mu.Unlock()
	c.free(r)
}

// Drop implements session.Port.
func (c *conn) Drop(_ *connector.Link, r *request) { c.free(r) }

// Hangup implements session.Port. PDUs that were posted before are written first. Nothing more
// is read meanwhile, because the peer may send without end.
func (c *conn) Hangup(_ *connector.Link, reason string) {
	c.deaf.Store(true)
	c.mu.Lock()
	waits := len(c.out)+c.writing > 0
	if waits && !c.last {
		c.last, c.reason = true, reason
		c.wakeLocked()
	}
	c.mu.Unlock()
	if !waits {
		c.hangup(reason)
	}
}

// Check implements session.Port.
func (c *conn) Check(_ *connector.Link, r *request, check func(), then func(now int64)) {
	runs := c.group.engine.run(func() {
		defer c.recovered("check")
		check()
		c.locked("check", then)
	})
	if !runs { // the engine is closed, so then is not called
		c.free(r)
	}
}

// Store implements session.Port.
func (c *conn) Store(_ int64, p session.Pending[*request]) {
	c.group.engine.store.add(p, func(code sms.Code) {
		c.locked("store", func(now int64) { c.talk.Stored(now, p, code) })
	})
}

// Queue implements session.Port.
func (c *conn) Queue(now int64, s *connector.Share, m *sms.Message) {
	c.group.engine.lane(s.Lane).push(now, s, m)
}

// Answered implements session.Port.
func (c *conn) Answered(now int64, _ *connector.Link, r *request, slot *connector.Slot, code sms.Code) {
	c.Connector.Stats.Answer.Observe(now - slot.Sent)
	c.group.engine.lane(slot.Share.Lane).answered(now, slot, answerOf(r, code, now))
	c.free(r)
}

// answerOf returns the answer to a message that a PDU carries.
func answerOf(r *request, code sms.Code, now int64) sms.Answer {
	return sms.Answer{Code: code, Status: r.pdu.Status(), PeerID: r.pdu.MessageID(), At: now}
}

// AnsweredLate implements session.Port.
func (c *conn) AnsweredLate(now int64, l *connector.Link, r *request, u connector.Unanswered, code sms.Code) {
	lane := c.group.engine.lane(l.Lane)
	lane.do(now, func() {
		lane.AnsweredLate(l, u, answerOf(r, code, now))
	})
	c.free(r)
}

// Unanswered implements session.Port.
func (c *conn) Unanswered(now int64, slot *connector.Slot) {
	c.group.engine.lane(slot.Share.Lane).answered(now, slot, sms.Answer{Code: sms.Timeout, At: now})
}

// Bound implements session.Port.
func (c *conn) Bound(now int64, l *connector.Link, takes bool) {
	if l.Lane != nil {
		lane := c.group.engine.lane(l.Lane)
		lane.do(now, func() { lane.Bound(l, takes) })
	}
}

// LoggingOut implements session.Port.
func (c *conn) LoggingOut(now int64, l *connector.Link) {
	if l.Lane != nil {
		lane := c.group.engine.lane(l.Lane)
		lane.do(now, func() { lane.LoggingOut(&l.Outlet) })
	}
}

// Quiet implements connector.Courier: it continues a logout when all our requests have their outcome. It
// does so in a goroutine, because a session's lock must be taken before the lane's.
func (c *conn) Quiet(int64) {
	c.group.engine.run(func() { c.locked("logout", func(now int64) { c.talk.Quiet(now, &c.Link) }) })
}

// TickAt implements session.Port.
func (c *conn) TickAt(at int64) {
	wait := time.Duration(at - c.group.engine.now())
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, func() { c.tick(c.group.engine.now()) })
		c.timerAt = at
	} else if c.timerAt == 0 || at < c.timerAt {
		c.timer.Reset(wait)
		c.timerAt = at
	}
}

// locked calls f with the session's lock held, and wakes the writer if f posted PDUs. A
// panic in f ends the session.
func (c *conn) locked(where string, f func(now int64)) {
	defer c.recovered(where)
	c.session.Lock()
	defer c.session.Unlock()
	defer c.wake()
	f(c.group.engine.now())
}

// tick does the conversation's due work: delayed answers, logins and waiting submits.
func (c *conn) tick(int64) {
	c.locked("timers", func(now int64) {
		if c.Phase == connector.Over {
			return
		}
		c.timerAt = 0
		if next := c.talk.Tick(now); next != 0 {
			c.TickAt(next)
		}
	})
}

// checkTimers handles the session's timers that have run out.
func (c *conn) checkTimers(now int64) {
	c.cutOff(now)
	c.locked("timers", func(now int64) {
		r := c.newRequest()
		if !c.talk.CheckTimers(now, &c.Link, r, !c.tooMuch()) {
			c.free(r)
		}
	})
}

// unbind begins to log out.
func (c *conn) unbind() {
	c.locked("logout", func(now int64) { c.talk.Unbind(now, &c.Link) })
}
