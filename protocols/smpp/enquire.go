package smpp

import (
	"time"

	"pmg/protocols"
)

// A keepalive checks whether the peer is alive (§4.11). Any PDU of the peer shows that the peer is alive, not
// only an enquire_link_resp.
type keepalive struct {
	heard    int64  // time of the peer's last PDU; later if the session was not read
	asked    int64  // when the unanswered enquire_link was sent; 0: no enquire_link is unanswered
	sequence uint32 // sequence_number of our last enquire_link
	unread   bool   // the PDU at hand may answer an enquire_link
}

// alive records that a PDU came.
func (l *keepalive) alive(now int64) { l.heard, l.asked, l.unread = now, 0, l.asked != 0 }

// checkAlive sends a silent peer an enquire_link, and ends the session if the peer does not
// answer.
func (s *session) checkAlive(now int64, p *PDU) protocols.Action {
	silence, answer := s.o.Patience(now)
	switch {
	case s.keepalive.asked != 0:
		if protocols.Late(now, s.keepalive.asked, answer) {
			return s.close(protocols.Close, "cannot hear from peer: enquire_link unanswered for "+time.Duration(answer).String())
		}
	case protocols.Late(now, s.keepalive.heard, silence):
		a := s.request(p, EnquireLink)
		s.keepalive.asked, s.keepalive.sequence = now, p.SequenceNumber
		return a
	}
	return protocols.Action{}
}
