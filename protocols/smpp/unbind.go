package smpp

import "pmg/protocols"

// A logout is our own unbind (§4.2).
type logout struct {
	since    int64 // when it was sent, 0 when it was not
	sequence uint32
}

// Unbind implements protocols.Session.
func (s *session) Unbind(now int64, pdu protocols.PDU) protocols.Action {
	switch {
	case s.state == closed || s.out.since != 0:
		return protocols.Action{}
	case s.state == open:
		return s.close(protocols.Close, "not logged in")
	}
	p := pdu.(*PDU)
	a := s.request(p, Unbind)
	s.out = logout{since: now, sequence: p.SequenceNumber}
	return a
}

// unbound answers the peer's unbind; the answer is the last thing it hears.
func (s *session) unbound(p *PDU) protocols.Action {
	p.answer(UnbindResp, StatusOK)
	return s.close(protocols.SendClose, "peer logged out")
}

// unbindAnswered ends the session that we log out from. What the peer thinks
// of it does not matter.
func (s *session) unbindAnswered(p *PDU) protocols.Action {
	if s.out.since == 0 || p.SequenceNumber != s.out.sequence {
		return protocols.Action{}
	}
	return s.close(protocols.Close, "logged out")
}
