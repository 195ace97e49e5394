package ucp

import "fmt"

// How many octets that are no frame a peer may send.
const (
	maxEarlyNoise = 1024     // limit before the login
	maxNoise      = 16 << 10 // between two frames
)

// tooMuch returns the reason to close the session of a peer that sends too much, or nothing.
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
