package gateway

import (
	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/store"
)

// mustCut reports whether the message of a slot is too long for the peer, because it was accepted
// for another one, or the options have changed since, or the session speaks a version of its
// protocol that has no field for long texts. Others were cut when they were accepted.
func (g *Gateway) mustCut(slot *connector.Slot) bool {
	m := slot.Message
	if slot.Asked != nil || m.Parts > 1 || m.Kind == sms.Receipt {
		return false
	}
	if v := slot.Link.Can.Limited; v != nil && len(m.Text()) > protocols.AnyText && !v.HasRoom(len(m.Text())) {
		return true
	}
	f := slot.Link.Connector.Form()
	switch {
	case slot.Share == nil || len(m.Text()) <= fit.AnyRoom || !slot.Share.Lane.MayBeUnfit(m.ID):
		return false
	case !f.HasRoom(m):
		return true
	}
	parts := g.cutFor(f, m)
	for _, p := range parts {
		p.Release()
	}
	return len(parts) > 0
}

// cutFor returns the parts that a message is sent in to peers of a form, converted for them. It
// returns none for one that need not or cannot be cut.
func (g *Gateway) cutFor(f *fit.Form, m *sms.Message) (parts []*sms.Message) {
	whole := g.Messages.Copy(m)
	defer func() {
		if len(parts) == 0 {
			whole.Release()
		}
	}()
	if !f.Takes.Has(whole.Alphabet) {
		g.convert(f, whole, false)
	}
	c := g.converters.Get().(*fit.Converter)
	n, ok := c.Parts(f, whole)
	g.converters.Put(c)
	if !ok || n < 2 {
		return nil
	}
	whole.Parts = uint8(n)
	return g.partsFor(f, whole)
}

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
	parts := g.cutFor(&f, m)
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
	first := g.ids.Add(uint64(len(parts))) - uint64(len(parts)) + 1
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
		g.receipts.outgoing.add(g, sending{batch: batch, share: share, message: p})
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
	e := ending{state: events.Cut, lane: lane, peer: l.Home().Driver, answer: sms.Answer{At: now}, attempts: attemptsOf(m, sms.BadLength, 0), operations: l.Config().Operations}
	if g.events.writer != nil {
		g.events.note(b, m, &e, ahead)
	}
	if notesEnd(m, &e) {
		g.noteEnd(b, m, &e, ahead)
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
