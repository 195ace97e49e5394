package smpp

import (
	"time"

	"pmg/protocols"
)

// A line is what is known about whether the peer lives (§4.11). Any PDU of the peer
// shows that it does, not only an enquire_link_resp.
type line struct {
	heard    int64  // when the peer's last PDU came, or could have come unheard
	asked    int64  // since when an answer is due; 0: none is
	sequence uint32 // of our last enquire_link
	checks   int64  // until when the peer's enquire_links use up what it may send of them
}

// alive notes that a PDU came.
func (l *line) alive(now int64) { l.heard, l.asked = now, 0 }

// checkLine asks a silent peer whether it lives, and ends the session of one that
// does not answer.
func (s *session) checkLine(now int64, p *PDU) protocols.Action {
	switch {
	case s.line.asked != 0:
		if late(now, s.line.asked, s.o.ResponseTimeout) {
			return s.close(protocols.Close, "cannot hear from peer: enquire_link unanswered for "+
				time.Duration(s.o.ResponseTimeout).String())
		}
	case late(now, s.line.heard, s.o.EnquireInterval):
		a := s.request(p, EnquireLink)
		s.line.asked, s.line.sequence = now, p.SequenceNumber
		return a
	}
	return protocols.Action{}
}
