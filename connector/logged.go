package connector

import (
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// logged remembers which messages the requests of a session carried, so that the pdu log
// shows the message with its answer. It belongs to the goroutine that logs the session's
// PDUs.
type logged struct {
	cells []loggedRequest // indexed by sequence number, as in Inflight, so that a request under way is not overwritten
}

type loggedRequest struct {
	sequence uint32
	id       uint64
	origin   *sms.Origin
}

func (g *logged) put(window int, sequence uint32, m *sms.Message) {
	if g.cells == nil {
		g.cells = make([]loggedRequest, cellsFor(window))
	}
	g.cells[int(sequence)&(len(g.cells)-1)] = loggedRequest{sequence, m.ID, m.Origin}
}

// find returns the request with a sequence number, even if it was already answered. It returns nil
// if the request is no longer remembered.
func (g *logged) find(sequence uint32) *loggedRequest {
	if g.cells == nil {
		return nil
	}
	if r := &g.cells[int(sequence)&(len(g.cells)-1)]; r.origin != nil && r.sequence == sequence {
		return r
	}
	return nil
}

// About returns the columns of a line of the pdu log, except those with the PDU's fields. m is the
// message of a request that we send, otherwise nil. id is the id of the message that our answer
// refers to. Only the goroutine that logs the session's PDUs may call About.
func (l *Link) About(received bool, p protocols.PDU, m *sms.Message, id uint64) pdulog.About {
	a := pdulog.About{ID: id, Pressing: l.Pressing.Load()}
	switch {
	case m != nil:
		a.ID, a.Account = m.ID, m.Account()
		l.logged.put(l.Connector.Config().MostRequests(), p.Sequence(), m)
	case received && p.IsAnswer():
		if r := l.logged.find(p.Sequence()); r != nil {
			a.ID, a.Account = r.id, r.origin.Account
		}
	}
	if l.Session.Bound() != 0 && l.Account != nil { // Account was set before Bound
		a.Account = l.Account.SystemID
	}
	return a
}
