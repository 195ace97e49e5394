package session

import (
	"pmg/connector"
)

// Unbind begins to log out of a session. The session gets no more messages from now on. Our
// logout is sent when those that it has are answered, or when response_timeout is over, because a
// message without an answer is sent again. A stopping gateway has already waited for the answers.
func (c *Conversation[R]) Unbind(now int64, l *connector.Link) {
	switch {
	case l.HasEnded() || l.LoggedOut:
	case l.Lane == nil || !l.WasBound() || l.Phase == connector.Draining || c.sessions.node.Draining():
		c.unbind(now, l)
	case l.LeavingAt == 0:
		l.Enter(connector.Leaving)
		l.LeavingAt = now
		c.port.LoggingOut(now, l) // the lane calls Quiet later
	}
}

// leave ends a session whose requests have their answers.
func (c *Conversation[R]) leave(now int64, l *connector.Link) {
	if l.TakesNothing {
		c.replies.close(now, l, c.port.New(l), l.Reason())
		return
	}
	c.unbind(now, l)
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
	l.Enter(connector.LoggingOut)
	l.LoggedOut = true
	c.waitRoom.settle(now, l)
	c.port.LoggingOut(now, l)
}

// Quiet continues a logout when all our requests of the session have their outcome.
func (c *Conversation[R]) Quiet(now int64, l *connector.Link) {
	if l.HasEnded() {
		return
	}
	if l.Phase == connector.Leaving {
		c.leave(now, l)
		return
	}
	r := c.port.New(l)
	c.do(now, l, r, l.Session.Idle(now, c.port.PDU(r)))
}
