package smpp

import (
	"fmt"
	"time"
)

// What a peer may send before it logs in, besides its bind: enough for a few
// enquire_links, and for a bind that is mended.
const (
	maxEarly    = 10   // PDUs
	maxEarlyPDU = 1024 // octets of a PDU
)

// What a peer may send without a message in it. The gateway answers each of these PDUs
// and writes it to a log, so that a flood would cost other sessions their time.
const (
	checkEvery = int64(100 * time.Millisecond) // on average
	checkBurst = 100                           // together
)

// tooMuch returns why the session of a peer that sends too much is to be closed, or
// nothing.
func (s *session) tooMuch(now int64, p *PDU) string {
	if s.state == open {
		return s.tooEarly(p)
	}
	if p.ID != EnquireLink && p.ID.row() != 0 {
		return ""
	}
	l := &s.line
	if l.checks = max(l.checks, now) + checkEvery; l.checks-now > checkBurst*checkEvery {
		return fmt.Sprintf("too many PDUs without a message: over %d enquire_link or unknown PDUs a second", int64(time.Second)/checkEvery)
	}
	return ""
}

// tooEarly is tooMuch before the login.
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
