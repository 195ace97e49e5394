package connector

import (
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// logged remembers which messages the requests of a session carried, so that the
// pdu log shows with an answer what it is about. It belongs to whatever logs the
// session's PDUs.
type logged struct {
	cells []loggedRequest // by sequence number, as in Inflight, so that none that is under way is overwritten
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

// find returns what was put by a sequence number, even if its answer has come
// before; nil if it is not known any more.
func (g *logged) find(sequence uint32) *loggedRequest {
	if g.cells == nil {
		return nil
	}
	if r := &g.cells[int(sequence)&(len(g.cells)-1)]; r.origin != nil && r.sequence == sequence {
		return r
	}
	return nil
}

// About returns what the pdu log says of a PDU besides its fields. m is the message
// that the PDU, a request of ours, carries, otherwise nil; id is that of the message
// which the PDU, an answer of ours, is about. About belongs to whatever logs the
// session's PDUs.
func (l *Link) About(received bool, p protocols.PDU, m *sms.Message, id uint64) pdulog.About {
	a := pdulog.About{ID: id}
	switch {
	case m != nil:
		a.ID, a.Account = m.ID, m.Account()
		l.logged.put(l.Connector.Config().Window, p.Sequence(), m)
	case received && p.IsAnswer():
		if r := l.logged.find(p.Sequence()); r != nil {
			a.ID, a.Account = r.id, r.origin.Account
		}
	}
	if l.Session.Bound() != 0 && l.Account != nil { // it was set before
		a.Account = l.Account.SystemID
	}
	return a
}
