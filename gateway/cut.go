package gateway

import (
	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/store"
)

// cut puts the parts of a message that is too long for a lane's peer in its place: in the
// store, with the same commit, and behind those that wait in the lane. It reports false if it cannot
// be cut. The client's id of the message stays what receipts have.
func (g *Gateway) cut(l *connector.Lane, m *sms.Message, now int64) bool {
	if m.Parts > 1 || m.Kind == sms.Receipt {
		return false
	}
	f := *l.Home().Form()
	if !f.Cuts() {
		f.Long = fit.Split8
	}
	parts := g.Convert.CutFor(&f, m)
	if len(parts) == 0 {
		return false
	}
	known, ok := m.Submitted()
	if m.Notify != 0 && len(known.Joined) == 0 {
		if !ok {
			known.Source, known.Dest = m.Source(), m.Dest()
		}
		known.Joined = []sms.Joined{{ID: m.KnownID(), Notify: m.Notify}}
	}
	share := g.Share(l, m.Origin)
	first := g.IDs.Add(uint64(len(parts))) - uint64(len(parts)) + 1
	for i, p := range parts {
		p.ID, p.Offset = first+uint64(i), uint16(i)
		p.ForgetAttempts()
		if len(known.Joined) > 0 {
			p.SetSubmitted(&known)
		}
	}
	g.NoteKeyword(parts[0])
	batch := g.storeCut(l, m, parts, now)
	for _, p := range parts {
		g.Outgoing.Give(keep.Own{Batch: batch, Share: share, Message: p})
	}
	g.Commit()
	return true
}

// storeCut stores the parts of a message, and ends the message. It returns the number of the batch.
func (g *Gateway) storeCut(l *connector.Lane, m *sms.Message, parts []*sms.Message, now int64) (batch uint64) {
	if g.Store == nil {
		return 0
	}
	lane, ahead := keep.LaneName(l), g.Clock.Ahead()
	b := g.Committer.Begin()
	e := keep.Ending{State: events.Cut, Lane: lane, Peer: l.Home().Driver, Answer: sms.Answer{At: now}, Attempts: attemptsOf(m, sms.BadLength, 0), Operations: l.Config().Operations}
	if g.events.writer != nil {
		g.events.note(b, m, &e, ahead)
	}
	if receipts.NotesEnd(m, &e) {
		g.Receipts.NoteEnd(b, m, &e, ahead)
	}
	if !g.Durable() {
		g.Committer.End()
		return 0
	}
	for _, p := range parts {
		b.PutOwn(p, lane)
	}
	b.Delete(m.ID, store.RecordSize(m, lane))
	batch = g.Committer.Number()
	g.Unsettled.Add(g.Committer.End())
	return batch
}
