package smpp

// tooMuch returns the reason why the session must be closed because its peer sends too much, or "".
func (s *session) tooMuch(now int64, c *command, p *PDU) string {
	if s.state == open {
		return s.allowance.TakeEarly(p.long, p.ID.IsBind() && p.Err() == nil && !s.bind.pending)
	}
	if c.carriesMessage() || c.operates && s.mayOperate(c, p) || !s.isCheap(c, p.ID) {
		return ""
	}
	return s.allowance.Take(now)
}

// mayOperate reports whether an operation goes on to the gateway, where it counts towards the
// account's rate. A campaign may be cancelled as fast as it was submitted.
func (s *session) mayOperate(c *command, p *PDU) bool {
	return !s.lacks(c) && s.illegal(c) == StatusOK && p.Err() == nil && badTLV(p.Parameters()) == StatusOK
}

// isCheap reports whether a PDU without a message is a request of a kind that a peer can send in great
// numbers, or an unknown PDU. An SMSC may send an alert_notification for each of its mobiles.
func (s *session) isCheap(c *command, id CommandID) bool {
	if id.IsResponse() {
		return c.id == 0
	}
	return id != AlertNotification || s.peer == esme
}
