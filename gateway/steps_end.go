package gateway

import (
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
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

// An ending is how a message has ended, on its way through the steps.
type ending struct {
	keep.Ending
	made receipts.Made      // the receipts that the gateway has made
	maps *receipts.Operator // that has accepted it and may send receipts; nil: none comes
}

// forget ends a message: every message ends here, once. It does not wait for the commit. maps is the
// operator that has accepted it and may send receipts, or nil.
func (g *Gateway) forget(m *sms.Message, end keep.Ending, maps *receipts.Operator) {
	e := g.endings.Get().(*ending) // the steps are functions of which the compiler does not know that they do not keep it
	e.Ending, e.maps = end, maps
	g.end(m, e)
	*e = ending{}
	g.endings.Put(e)
}

func (g *Gateway) end(m *sms.Message, e *ending) {
	e.made = g.Receipts.OwnReceipt(m, &e.Ending)
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
	return g.Durable() || g.Store != nil && e.Aside
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
	g.events.note(b, m, &e.Ending, g.Clock.Ahead())
}

func (g *Gateway) hasID(_ *sms.Message, e *ending) bool { return e.maps != nil }

func (g *Gateway) endID(b *store.Batch, m *sms.Message, e *ending) {
	g.Receipts.Note(b, e.maps, m, &e.Answer, g.Clock.Ahead())
}

// hasFate reports whether what becomes of a message is noted: for that by whose id a client
// knows it. A receipt may have told already of one that an SMSC has accepted.
func (g *Gateway) hasFate(m *sms.Message, e *ending) bool {
	return g.Store != nil && receipts.NotesEnd(m, &e.Ending) && (e.State != events.Sent || !g.Receipts.HasTold(m.KnownID()))
}

func (g *Gateway) endFate(b *store.Batch, m *sms.Message, e *ending) {
	g.Receipts.NoteEnd(b, m, &e.Ending, g.Clock.Ahead())
}

func (g *Gateway) hasReceipt(_ *sms.Message, e *ending) bool { return e.made.IsAny() }

func (g *Gateway) endReceipt(b *store.Batch, _ *sms.Message, e *ending) {
	g.Receipts.SendMade(b, &e.made)
}

// hasOutcome reports whether how a message ended is noted outside the store, too. An operator who
// has no answer yet deletes a message again.
func (g *Gateway) hasOutcome(_ *sms.Message, e *ending) bool {
	return g.Durable() && g.Unsettled.Outcomes != nil && e.State != events.Deleted
}

func (g *Gateway) endOutcome(_ *store.Batch, m *sms.Message, e *ending) {
	a, sent := e.Answer, e.Sent
	if sent != 0 {
		sent = g.Clock.Wall(sent)
	}
	g.Unsettled.Outcomes.Note(store.Outcome{ID: m.ID, Code: a.Code, Attempts: e.Attempts, Status: a.Status, Sent: sent, At: g.Clock.Wall(a.At), Lane: store.HashOfLane(e.Lane), PeerID: a.PeerID})
}
