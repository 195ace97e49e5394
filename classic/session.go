package classic

import (
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/sms"
)

// act does what a session wants; r carries the PDU that the action is about. It
// tells whether r waits for something: then it is not the caller's any more.
// The caller holds the session's lock, here and below.
func (c *conn) act(now int64, r *request, a protocols.Action) (kept bool) {
	if c.ended && a.Kind != protocols.Answered {
		return false
	}
	switch a.Kind {
	case protocols.Send:
		return c.send(now, r)
	case protocols.SendClose:
		c.ended, r.last, r.reason = true, true, a.Reason
		c.hurry(now)
		return c.send(now, r)
	case protocols.Close:
		c.ended = true
		c.hangup(a.Reason)
	case protocols.Login:
		return c.login(now, r, a.Credentials)
	case protocols.Bound:
		c.bound(now)
	case protocols.Message:
		return c.message(now, r)
	case protocols.Answered:
		c.answered(now, a)
	}
	return false
}

// send hands a PDU to the writer, or keeps it until its time.
func (c *conn) send(now int64, r *request) (kept bool) {
	if r.after > now {
		r.owe()
		c.delay(r)
		return true
	}
	c.post(now, r.pdu, r.last, r.reason)
	return false
}

func (c *conn) message(now int64, r *request) (kept bool) {
	gw := c.group.gateway
	m, to, code := gw.Prepare(now, c.Connector, c.Account, c.Session, r.pdu)
	var id uint64
	if m != nil {
		var what admission
		switch what, id = c.group.engine.group(to).submit(now, m, r); what {
		case waiting:
			return true
		case full:
			m.Release()
			c.Connector.Stats.Refused.Add(1)
			code = sms.QueueFull
		}
	}
	c.Session.Answer(r.pdu, code, id)
	return c.send(now, r)
}

// answer answers a request that has waited for room. The caller holds no lock.
func (c *conn) answer(now int64, a answer) {
	defer c.recovered("answer")
	c.session.Lock()
	defer c.session.Unlock()
	defer c.wake()
	if c.over || c.ended {
		a.request.free()
		return
	}
	c.Session.Answer(a.request.pdu, a.code, a.id)
	if !c.send(now, a.request) {
		a.request.free()
	}
}

// answered pairs an answer with the slot of its request.
func (c *conn) answered(now int64, a protocols.Action) {
	slot := c.Inflight.Take(a.Sequence)
	if slot == nil {
		c.Connector.Stats.Unmatched.Add(1)
		return
	}
	c.Connector.Stats.Answer.Observe(now - slot.Sent)
	c.group.answered(now, slot, a.Code)
}

func (c *conn) bound(now int64) { c.group.bound(now, c, c.group.gateway.Bound(&c.Link)) }

// login checks a client's credentials. What it sent behind them is not read until
// the outcome is known.
func (c *conn) login(now int64, r *request, who protocols.Credentials) (kept bool) {
	l := c.group.gateway.Login(now, c.Connector, c.Remote, who)
	for step, again := l.Next(now); step != gateway.LoginDecided; step, again = l.Next(now) {
		if step == gateway.LoginHashes {
			c.unlocked(l.Hash)
		} else {
			c.unlocked(func() { c.pause(again - now) })
		}
		if now = c.group.engine.now(); c.over || c.ended {
			l.Abandon()
			return false
		}
	}
	result := l.Result
	c.Account = result.Account
	r.after = result.AnswerAfter
	kept = c.act(now, r, c.Session.Login(now, r.pdu, result.Code))
	if result.Code == sms.OK && c.Session.Bound() != 0 {
		c.bound(now)
	}
	return kept
}

// unlocked lets others at the session while the reader computes or sleeps.
func (c *conn) unlocked(slow func()) {
	c.session.Unlock()
	defer c.session.Lock()
	slow()
}

// pause waits, or returns when the connection is over.
func (c *conn) pause(ns int64) {
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.written:
	}
}

// look does what is due by the session's timers.
func (c *conn) look(now int64) {
	defer c.recovered("timers")
	c.cutOff(now)
	c.session.Lock()
	defer c.session.Unlock()
	defer c.wake()
	if c.over || c.ended {
		return
	}
	r := c.newRequest()
	a := c.group.gateway.Look(now, &c.Link, r.pdu, func(slot *connector.Slot) { c.group.answered(now, slot, sms.Timeout) })
	if !c.act(now, r, a) {
		r.free()
	}
}

// unbind begins to log out.
func (c *conn) unbind() {
	defer c.recovered("logout")
	c.session.Lock()
	defer c.session.Unlock()
	defer c.wake()
	if c.over || c.ended {
		return
	}
	now, r := c.group.engine.now(), c.newRequest()
	if !c.act(now, r, c.Session.Unbind(now, r.pdu)) {
		r.free()
	}
}
