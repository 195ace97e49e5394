package settle

import (
	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/store"
)

// cut puts the parts of a message that is too long for a lane's peer in its place: in the store,
// with the same commit, and behind those that wait in the lane. It returns false if the message
// cannot be cut. Receipts still contain the client's id of the message.
func (d *Settler) cut(l *connector.Lane, m *sms.Message, now int64) bool {
	if m.Parts > 1 || m.Kind == sms.Receipt {
		return false
	}
	f := *l.Home().Form()
	if !f.Cuts() {
		f.Long = fit.Split8
	}
	parts := d.convert.CutFor(&f, m)
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
	share := d.table.Share(l, m.Origin)
	first := d.keep.IDs.Add(uint64(len(parts))) - uint64(len(parts)) + 1
	for i, p := range parts {
		p.ID, p.Offset = first+uint64(i), uint16(i)
		p.ForgetAttempts()
		if i > 0 {
			sms.SetPrice(p, 0, 0) // the first part has the price of the message
		}
		if len(known.Joined) > 0 {
			p.SetSubmitted(&known)
		}
	}
	d.table.RememberKeyword(parts[0])
	stored := d.storeCut(l, m, parts, now)
	for _, p := range parts {
		d.keep.Outgoing.Give(keep.Own{After: stored, Share: share, Message: p})
	}
	d.keep.Commit()
	return true
}

// storeCut stores the parts of a message, and ends the message. It returns the position of the
// commit, or the zero position if the parts are not stored.
func (d *Settler) storeCut(l *connector.Lane, m *sms.Message, parts []*sms.Message, now int64) (stored store.Position) {
	lane, ahead := keep.LaneName(l), d.node.Clock.Ahead()
	e := keep.Ending{
		State: events.Cut, Lane: lane, Peer: l.Home().Driver, Answer: sms.Answer{At: now},
		Attempts: AttemptsOf(m, sms.BadLength, 0), Operations: l.Config().Operations,
	}
	written := d.keep.Batches.Write(func(b *store.Batch) {
		if d.Events.Writer != nil {
			d.Events.Add(b, m, &e, ahead)
		}
		if receipts.RecordsEnd(m, &e) {
			d.Receipts.RecordEnd(b, m, &e, ahead)
		}
		if !d.keep.Durable() {
			return
		}
		for _, p := range parts {
			b.PutOwn(p, lane)
		}
		b.Delete(m.ID, store.RecordSize(m, lane))
		d.keep.Unsettled.Add(b.Position())
	})
	if !d.keep.Durable() {
		return stored
	}
	return written
}
