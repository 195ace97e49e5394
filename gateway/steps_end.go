package gateway

import (
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// An EndStep is something that happens when a message ends: each is taken, once, in one batch of
// the store.
type EndStep struct {
	Name, Doc string

	needs func(g *Gateway, m *sms.Message, e *ending) bool
	do    func(g *Gateway, b *store.Batch, m *sms.Message, e *ending)
}

// EndSteps returns the steps in their order.
func EndSteps() []EndStep {
	return []EndStep{
		{"record", "has the store forget the message", (*Gateway).hasRecord, (*Gateway).endRecord},
		{"event", "notes its event", (*Gateway).hasEvent, (*Gateway).endEvent},
		{"id", "notes the id that the SMSC has given it, for its receipts", (*Gateway).hasID, (*Gateway).endID},
		{"fate", "notes what became of it, for its client's queries", (*Gateway).hasFate, (*Gateway).endFate},
		{"receipt", "makes the receipt of a message that no SMSC has accepted", (*Gateway).hasReceipt, (*Gateway).endReceipt},
		{"outcome", "notes how it ended outside the store, for a kill before the commit", (*Gateway).hasOutcome, (*Gateway).endOutcome},
	}
}

// forget ends a message: every message ends here, once. It does not wait for the commit.
func (g *Gateway) forget(m *sms.Message, end ending) {
	e := g.endings.Get().(*ending) // the steps are functions of which the compiler does not know that they do not keep it
	*e = end
	g.end(m, e)
	*e = ending{}
	g.endings.Put(e)
}

func (g *Gateway) end(m *sms.Message, e *ending) {
	e.made, e.share = g.ownReceipt(m, e)
	needed := false
	for i := range g.endSteps {
		needed = needed || g.endSteps[i].needs(g, m, e)
	}
	var b *store.Batch
	switch {
	case !needed:
		return
	case g.Store != nil:
		b = g.Committer.Begin()
	}
	for i := range g.endSteps {
		if step := &g.endSteps[i]; step.needs(g, m, e) {
			step.do(g, b, m, e)
		}
	}
	if b == nil {
		return
	}
	if number := g.Committer.End(); g.Durable() {
		g.Unsettled.Add(number)
	}
}

// hasRecord reports whether the store has a message: an engine that is not durable has only
// messages that were put aside.
func (g *Gateway) hasRecord(_ *sms.Message, e *ending) bool {
	return g.Durable() || g.Store != nil && e.aside
}

func (g *Gateway) endRecord(b *store.Batch, m *sms.Message, _ *ending) {
	size := 0
	if g.Durable() {
		size = int(m.Size()) // about
	}
	b.Delete(m.ID, size)
}

func (g *Gateway) hasEvent(*sms.Message, *ending) bool { return g.events.writer != nil }

func (g *Gateway) endEvent(b *store.Batch, m *sms.Message, e *ending) {
	g.events.note(b, m, e, g.Clock.Ahead())
}

func (g *Gateway) hasID(_ *sms.Message, e *ending) bool { return e.maps != nil }

func (g *Gateway) endID(b *store.Batch, m *sms.Message, e *ending) {
	g.receipts.note(g, b, e.maps, m, &e.answer, g.Clock.Ahead())
}

// hasFate reports whether what becomes of a message is noted: for that by whose id a client
// knows it. A receipt may have told already of one that an SMSC has accepted.
func (g *Gateway) hasFate(m *sms.Message, e *ending) bool {
	return g.Store != nil && notesEnd(m, e) && (e.state != events.Sent || !g.receipts.told.has(m.KnownID()))
}

func (g *Gateway) endFate(b *store.Batch, m *sms.Message, e *ending) {
	g.noteEnd(b, m, e, g.Clock.Ahead())
}

func (g *Gateway) hasReceipt(_ *sms.Message, e *ending) bool { return e.made != nil || e.unread != nil }

// endReceipt sends the receipts that the gateway has made, or has the outcomes of other parts read.
func (g *Gateway) endReceipt(b *store.Batch, _ *sms.Message, e *ending) {
	if e.made != nil {
		for _, own := range append(e.more, e.made) {
			g.send(b, own, e.share)
			g.receipts.counts.Own.Add(1)
		}
	}
	if unread := e.unread; b != nil && unread != nil {
		g.Outgoing.Give(keep.Own{Batch: g.Committer.Number(), Work: func() { g.joinUnread(unread) }})
	}
}

// hasOutcome reports whether how a message ended is noted outside the store, too. An operator who
// has no answer yet deletes a message again.
func (g *Gateway) hasOutcome(_ *sms.Message, e *ending) bool {
	return g.Durable() && g.Unsettled.Outcomes != nil && e.state != events.Deleted
}

func (g *Gateway) endOutcome(_ *store.Batch, m *sms.Message, e *ending) {
	a, sent := e.answer, e.sent
	if sent != 0 {
		sent = g.Clock.Wall(sent)
	}
	g.Unsettled.Outcomes.Note(store.Outcome{ID: m.ID, Code: a.Code, Attempts: e.attempts, Status: a.Status, Sent: sent, At: g.Clock.Wall(a.At), Lane: store.HashOfLane(e.lane), PeerID: a.PeerID})
}
