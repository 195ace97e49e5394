package gateway

import (
	"fmt"

	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// ownReceipt returns the receipt that the gateway makes of a message that has ended without
// being accepted by an SMSC, and its place, if the client wants one. The committer's lock is
// not needed; put follows.
func (g *Gateway) ownReceipt(m *sms.Message, e *ending) (*sms.Message, *connector.Share) {
	if e.state == events.Sent || m.Kind != sms.Submit || m.Notify&sms.NotifyFailure == 0 || m.Account() == "" {
		return nil, nil
	}
	lane := g.ClientLane(m.Account())
	if lane == nil {
		g.receipts.counts.Homeless.Add(1)
		return nil, nil
	}
	ahead := g.Clock.Ahead()
	r := sms.Report{State: stateOfEnd(e.state), Submitted: m.Arrived + ahead, Done: e.answer.At + ahead}
	if e.answer.Status != 0 && e.answer.Status < 1000 {
		r.Err = fmt.Appendf(nil, "%03d", e.answer.Status)
	}
	v := store.MappingOf(m, ahead)
	own := g.Messages.Get()
	own.Origin = g.Origins.Of("", lane.Home().Name)
	own.Kind, own.Flags = sms.Receipt, sms.HasReport
	if m.Parts > 1 {
		if joined, verdict := g.partEnded(&v, &r, g.readsParts(v.WholeID())); verdict == passOn {
			r = joined
		} else {
			if verdict == unread {
				e.unread = newUnreadPart(&v, &r)
			}
			own.SetReport(sms.Address{}, sms.Address{}, &r)
			g.notePart(&v, own.Text())
			own.Release()
			return nil, nil
		}
	}
	known, others := receivers(&v, r.State)
	e.more = g.addressAll(max(e.answer.At, m.Arrived), own, &v, &r, known, others)
	own.ID = g.IDs.Add(1)
	for _, other := range e.more {
		other.ID = g.IDs.Add(1)
	}
	return own, g.Share(lane, own.Origin)
}

// stateOfEnd returns the state that the receipt of a message reports which has ended so.
func stateOfEnd(s events.State) sms.State {
	switch s {
	case events.Expired:
		return sms.StateExpired
	case events.Deleted:
		return sms.StateDeleted
	case events.Rejected:
		return sms.StateRejected
	case events.Unknown:
		return sms.StateUnknown
	}
	return sms.StateUndeliverable
}

// send stores a receipt that the gateway has made, and gives it to its lane when it is stored.
// b is the open batch, nil if there is no store.
func (g *Gateway) send(b *store.Batch, m *sms.Message, s *connector.Share) {
	o := keep.Own{Share: s, Message: m}
	if g.Durable() {
		b.PutOwn(m, keep.LaneName(s.Lane))
		o.Batch = g.Committer.Number()
	}
	g.Outgoing.Give(o)
}

// An unreadPart is a part of a long message that the gateway has given up, where the outcomes of
// other parts are in the store alone.
type unreadPart struct {
	match
	report sms.Report
}

func newUnreadPart(v *store.Mapping, r *sms.Report) *unreadPart {
	u := &unreadPart{report: *r}
	_ = u.set(v.Append(nil))
	return u
}

// joinUnread makes the receipt of the long message if each part has an outcome. That of this part
// is in the store.
func (g *Gateway) joinUnread(u *unreadPart) {
	if err := g.loadParts(&u.match); err != nil {
		g.LogLookup(err)
		return
	}
	if r, v := g.partEnded(&u.Mapping, &u.report, false); v == passOn {
		g.sendOwn(&u.Mapping, &r)
	}
}

// sendOwn makes the receipt r of a message whose parts have ended, or were waited for long enough,
// and sends it if the client wants it.
func (g *Gateway) sendOwn(f *store.Mapping, r *sms.Report) {
	known, others := receivers(f, r.State)
	lane := g.ClientLane(string(f.Account))
	if known == 0 || lane == nil {
		return
	}
	own := g.Messages.Get()
	own.Origin = g.Origins.Of("", lane.Home().Name)
	own.Kind, own.Flags = sms.Receipt, sms.HasReport
	all := append(g.addressAll(g.Clock.Now(), own, f, r, known, others), own)
	share := g.Share(lane, own.Origin)
	b := g.Committer.Begin()
	for _, m := range all {
		m.ID = g.IDs.Add(1)
		g.send(b, m, share)
		g.receipts.counts.Own.Add(1)
	}
	g.Committer.End()
	g.Committer.CommitSoon()
}
