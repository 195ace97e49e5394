package gateway

import "pmg/connector"

// Unbind begins to log out of a session. The session gets no more messages from now on. Our
// logout is sent when those that it has are answered, or when response_timeout is over, because a
// message without an answer is sent again. A stopping gateway has waited for the answers before.
func (c *Conversation[R]) Unbind(now int64, l *connector.Link) {
	switch {
	case l.Over || l.Ended || l.LoggedOut:
	case l.Lane == nil || !l.Bound || l.Draining || c.gateway.Draining():
		c.unbind(now, l)
	case l.LeavingAt == 0:
		l.LeavingAt = now
		c.port.LoggingOut(now, l) // Quiet follows
	}
}

// unbind sends our logout, behind the answers to the peer's waiting requests.
func (c *Conversation[R]) unbind(now int64, l *connector.Link) {
	c.loggingOut(now, l)
	r := c.port.New(l)
	c.do(now, l, r, l.Session.Unbind(now, c.port.PDU(r)))
}

// loggingOut answers the waiting requests of a session that we log out from, and
// gives the session no more messages.
func (c *Conversation[R]) loggingOut(now int64, l *connector.Link) {
	if l.LoggedOut {
		return
	}
	l.LoggedOut = true
	c.settle(now, l)
	c.port.LoggingOut(now, l)
}

// Quiet continues a logout when all our requests of the session have their outcome.
func (c *Conversation[R]) Quiet(now int64, l *connector.Link) {
	if l.Over || l.Ended {
		return
	}
	if l.LeavingAt != 0 && !l.LoggedOut && !l.Draining {
		c.unbind(now, l)
		return
	}
	r := c.port.New(l)
	c.do(now, l, r, l.Session.Idle(now, c.port.PDU(r)))
}
