package ucp

import "fmt"

// The maximum octets outside frames from a peer.
const (
	maxEarlyNoise = 1024     // limit before the login
	maxNoise      = 16 << 10 // limit between two frames
)

// tooMuch returns the reason for closing the session of a peer that sends too much, or "".
func (s *session) tooMuch(now int64, p *PDU) string {
	if p.noise {
		return s.tooMuchNoise(p)
	}
	s.noise = 0
	if s.at == open {
		return s.allowed.TakeEarly(p.long, p.OT == OpenSession && p.Err() == nil && !s.pending)
	}
	if p.Err() == nil && (p.Result || row(p.OT).use == message) {
		return ""
	}
	return s.allowed.Take(now)
}

// tooMuchNoise returns the reason for closing the session of a peer that sends too many octets outside frames, or "".
func (s *session) tooMuchNoise(p *PDU) string {
	most := maxNoise
	if s.at == open {
		most = maxEarlyNoise
	}
	if s.noise += len(p.raw()); s.noise > most {
		return fmt.Sprintf("cannot find a frame: more than %d octets are outside frames", most)
	}
	return ""
}
