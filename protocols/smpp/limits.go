package smpp

import (
	"fmt"
	"time"
)

// The limits of a peer before it logs in, without its bind. They are enough for a few
// enquire_links and for corrected binds.
const (
	maxEarly    = 10   // PDUs
	maxEarlyPDU = 1024 // octets of a PDU
)

// The limits of PDUs without a message. The gateway answers and logs each of them, so a flood
// would slow other sessions down.
const (
	checkEvery = int64(100 * time.Millisecond) // average interval
	checkBurst = 100                           // PDUs in a burst
)

// tooMuch returns why the session must be closed because its peer sends too much, or "".
func (s *session) tooMuch(now int64, c *command, p *PDU) string {
	if s.state == open {
		return s.tooEarly(p)
	}
	if c.carriesMessage() || c.operates && s.mayOperate(c, p) || !s.isCheap(c, p.ID) {
		return ""
	}
	l := &s.keepalive
	if l.checks = max(l.checks, now) + checkEvery; l.checks-now > checkBurst*checkEvery {
		return fmt.Sprintf("too many PDUs without a message: over %d a second", int64(time.Second)/checkEvery)
	}
	return ""
}

// mayOperate reports whether an operation goes on to the gateway, where it counts towards the
// account's rate. A campaign may be cancelled as fast as it was submitted.
func (s *session) mayOperate(c *command, p *PDU) bool {
	return !s.lacks(c) && s.illegal(c) == StatusOK && p.Err() == nil && badTLV(p.Parameters()) == StatusOK
}

// isCheap reports whether a PDU without a message is a request, of which a peer might send
// very many, or not known. An SMSC may send an alert_notification for each of its mobiles.
func (s *session) isCheap(c *command, id CommandID) bool {
	if id.IsResponse() {
		return c.id == 0
	}
	return id != AlertNotification || s.peer == esme
}

// tooEarly does the same before the login.
func (s *session) tooEarly(p *PDU) string {
	if p.long {
		return fmt.Sprintf("too much before login: a PDU of more than %d octets", maxEarlyPDU)
	}
	if p.ID.IsBind() && p.Err() == nil && !s.bind.pending {
		return ""
	}
	if s.early++; s.early > maxEarly {
		return fmt.Sprintf("too much before login: more than %d PDUs", maxEarly)
	}
	return ""
}
