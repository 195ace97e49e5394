package smpp

import "pmg/protocols"

// A logout is one side's unbind (§4.2).
type logout struct {
	since    int64 // when unbind was sent or received; later if the session was not read; 0: no unbind
	sequence uint32
}

// begun reports whether the side has begun to log out.
func (l *logout) begun() bool { return l.since != 0 }

// answeredBy reports whether p is the response to the unbind.
func (l *logout) answeredBy(p *PDU) bool { return l.begun() && p.SequenceNumber == l.sequence }

// Unbind implements protocols.Session.
func (s *session) Unbind(now int64, pdu protocols.PDU) protocols.Action {
	switch {
	case s.state == closed || s.ours.begun() || s.theirs.begun():
		return protocols.Action{}
	case s.state == open:
		return s.close(protocols.Close, "not logged in")
	}
	p := pdu.(*PDU)
	s.request(p, Unbind)
	s.ours = logout{since: now, sequence: p.SequenceNumber}
	s.accepting.Store(false)
	return protocols.Action{Kind: protocols.Logout}
}

// loggedOut ends the session after the response to our unbind. The response's status does not
// matter, and the peer sends no more answers after it.
func (s *session) loggedOut(p *PDU) protocols.Action {
	if s.theirs.begun() {
		return s.answerUnbind(p)
	}
	return s.close(protocols.Close, "logged out")
}

// unbound handles the peer's unbind. The peer closes the connection after our unbind_resp, so
// that is sent after the responses that are on their way to us. Without these we would send
// our messages again.
func (s *session) unbound(now int64, p *PDU) protocols.Action {
	s.theirs = logout{since: now, sequence: p.SequenceNumber}
	s.accepting.Store(false)
	return protocols.Action{Kind: protocols.Drain}
}

// Idle implements protocols.Session.
func (s *session) Idle(_ int64, pdu protocols.PDU) protocols.Action {
	if s.state == closed || !s.theirs.begun() {
		return protocols.Action{}
	}
	return s.answerUnbind(pdu.(*PDU))
}

// answerUnbind answers the peer's unbind. Nothing is sent to the peer after that.
func (s *session) answerUnbind(p *PDU) protocols.Action {
	p.answer(UnbindResp, StatusOK)
	p.SequenceNumber = s.theirs.sequence
	return s.close(protocols.SendClose, "peer logged out")
}
