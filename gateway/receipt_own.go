package gateway

import (
	"fmt"
	"slices"
	"sync"

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
			own.ID, own.Part, own.Parts = v.WholeID(), v.Part, v.Parts
			return own, nil // its outcome is noted
		}
	}
	known, others := receivers(&v, r.State)
	e.more = g.addressAll(max(e.answer.At, m.Arrived), own, &v, &r, known, others)
	own.ID = g.ids.Add(1)
	for _, other := range e.more {
		other.ID = g.ids.Add(1)
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
	o := sending{share: s, message: m}
	switch {
	case s == nil: // the outcome of a part
		if b != nil {
			g.notePart(b, m)
		}
		m.Release()
		return
	case g.Durable():
		b.PutOwn(m, keep.LaneName(s.Lane))
		o.batch = g.Committer.Number()
	}
	g.receipts.outgoing.add(g, o)
}

// outgoing queues messages that the gateway made itself: receipts, joined messages and parts. A
// goroutine pushes each to its lane after its batch is committed. It is a goroutine of its own
// because the caller may hold the lock of another lane. outgoing is safe for concurrent use.
type outgoing struct {
	done sync.WaitGroup

	mu      sync.Mutex
	engine  Engine // nil: not begun, or ended
	waiting []sending
	safe    uint64 // batches up to this one are committed
	running bool
}

// A sending is a message that the gateway has made, and its place.
type sending struct {
	batch   uint64 // that is committed first; 0: none
	placed  bool   // it holds its place in the lane
	share   *connector.Share
	message *sms.Message
	unread  *unreadPart // there is no message yet; nil: there is
}

func (o *outgoing) add(g *Gateway, one sending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, one)
	o.run(g)
}

// areStored drops the messages that have been added so far, because they are found in the store.
func (o *outgoing) areStored() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(one sending) bool {
		if one.message != nil {
			one.message.Release()
		}
		return one.message != nil
	})
}

// leaveStored leaves what is stored to Recover, which gives all of the store's messages to their lanes.
func (o *outgoing) leaveStored() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(one sending) bool {
		if one.message == nil {
			return false
		}
		one.message.Release()
		return true
	})
}

// begin allows lanes to be given receipts by an engine.
func (o *outgoing) begin(g *Gateway, e Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.engine = e
	o.run(g)
}

// end waits until no lane is given anything any more. What is left is in the store.
func (o *outgoing) end() {
	o.mu.Lock()
	o.engine, o.waiting = nil, nil
	o.mu.Unlock()
	o.done.Wait()
}

// committed notes that a commit has ended. What failed is in the next batch.
func (o *outgoing) committed(g *Gateway, upTo uint64, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !failed {
		o.safe = upTo
		o.run(g)
		return
	}
	for i := range o.waiting {
		if w := &o.waiting[i]; w.batch != 0 && w.batch <= upTo {
			w.batch = upTo + 1
		}
	}
}

// run starts the goroutine if there may be work for it. The caller holds the lock.
func (o *outgoing) run(g *Gateway) {
	if o.engine != nil && !o.running && len(o.waiting) > 0 && o.waiting[0].batch <= o.safe {
		o.running = true
		o.done.Go(func() { o.loop(g) })
	}
}

func (o *outgoing) loop(g *Gateway) {
	g.Pass("outgoing")
	for {
		o.mu.Lock()
		n, e := 0, o.engine
		for n < len(o.waiting) && o.waiting[n].batch <= o.safe {
			n++
		}
		if n == 0 || e == nil {
			o.running = false
			o.mu.Unlock()
			return
		}
		part := o.waiting[:n:n]
		o.waiting = append([]sending(nil), o.waiting[n:]...)
		o.mu.Unlock()
		for len(part) > 0 {
			if u := part[0].unread; u != nil {
				g.joinUnread(u)
				part = part[1:]
				continue
			}
			n := 1
			for n < len(part) && part[n].share == part[0].share {
				n++
			}
			g.enterOwn(e, part[0].share, part[:n])
			part = part[n:]
		}
	}
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
		m.ID = g.ids.Add(1)
		g.send(b, m, share)
		g.receipts.counts.Own.Add(1)
	}
	g.Committer.End()
	g.Committer.CommitSoon()
}

// enterOwn gives messages to a lane.
func (g *Gateway) enterOwn(e Engine, s *connector.Share, all []sending) {
	for _, o := range all {
		if !o.placed {
			s.Enter(o.message, g.Clock.Now())
		}
	}
	ok := e.Do(s.Lane, func(now int64) {
		for _, o := range all {
			s.Lane.Push(now, s, o.message)
		}
	})
	if ok {
		return
	}
	for _, o := range all { // they are in the store
		s.Leave(o.message)
		o.message.Release()
	}
}
