package ucp

import (
	"fmt"
	"time"
)

// What a peer may send before it logs in, besides its login: enough for a few
// operations that are refused, and for a login that is mended.
const (
	maxEarly      = 10   // PDUs
	maxEarlyPDU   = 1024 // octets of a PDU
	maxEarlyNoise = 1024 // octets
)

// What a peer may send without a message in it. The gateway answers each of these
// PDUs and writes it to a log, so that a flood would cost other sessions their time.
const (
	checkEvery = int64(100 * time.Millisecond) // on average
	checkBurst = 100                           // together
	maxNoise   = 16 << 10                      // octets between two frames
)

// tooMuch returns the reason to close the session of a peer that sends too much, or nothing.
func (s *session) tooMuch(now int64, p *PDU) string {
	if p.noise {
		return s.tooMuchNoise(p)
	}
	s.noise = 0
	if s.at == open {
		return s.tooEarly(p)
	}
	if p.Err() == nil && (p.Result || row(p.OT).use == message) {
		return ""
	}
	return s.tooMany(now)
}

// tooMany counts a PDU that the gateway does nothing for but to log it, and perhaps to answer it: also
// a message whose TRN is not free, and a result that answers nothing. It returns the
// reason to close the session, or nothing.
func (s *session) tooMany(now int64) string {
	l := &s.line
	if l.checks = max(l.checks, now) + checkEvery; l.checks-now > checkBurst*checkEvery {
		return fmt.Sprintf("too many PDUs without a message: over %d a second", int64(time.Second)/checkEvery)
	}
	return ""
}

// tooMuchNoise is tooMuch for octets that are no frame.
func (s *session) tooMuchNoise(p *PDU) string {
	most := maxNoise
	if s.at == open {
		most = maxEarlyNoise
	}
	if s.noise += len(p.raw()); s.noise > most {
		return fmt.Sprintf("cannot find a frame: more than %d octets that are none", most)
	}
	return ""
}

// tooEarly is tooMuch before the login.
func (s *session) tooEarly(p *PDU) string {
	if p.long {
		return fmt.Sprintf("too much before login: a PDU of more than %d octets", maxEarlyPDU)
	}
	if p.OT == OpenSession && p.Err() == nil && !s.pending {
		return ""
	}
	if s.early++; s.early > maxEarly {
		return fmt.Sprintf("too much before login: more than %d PDUs", maxEarly)
	}
	return ""
}
