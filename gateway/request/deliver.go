package request

import (
	"hash/maphash"
	"sync"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// orders keep the receipts about a message in the order in which they came: one goes on when the one before has ended.
type orders struct {
	seed maphash.Seed
	of   [256]sync.Mutex
}

func newOrders() *orders { return &orders{seed: maphash.MakeSeed()} }

// wait waits until no other receipt with an id is being brought, and returns what lets the next one go on.
func (o *orders) wait(id []byte) (end func()) {
	m := &o.of[maphash.Bytes(o.seed, id)%uint64(len(o.of))]
	m.Lock()
	return m.Unlock
}

// Deliver takes in a message from a mobile, or a receipt, that an SMS centre has brought by a request, and returns what
// became of it when it is stored. from is the request's own, and has no account.
func (d *Desk) Deliver(from *connector.Source, fill Fill) Result {
	in := d.intake.NewIntake(1)
	s := intake.Submission{Way: intake.Delivered, From: from, Room: room{in}, Change: d.changes(fill)}
	if code := d.intake.TakeWaiting(d.node.Clock.Now(), &s); code != sms.OK {
		r := Result{Code: code, Step: s.Refuser(d.intake)}
		s.Drop()
		return r
	}
	if s.Message.Kind == sms.Receipt {
		return d.receipt(in, from, s.Message)
	}
	return d.deliver(in, from, s.Accepted(), nil)
}

// deliver stores what was taken in, and gives it to its lane.
func (d *Desk) deliver(in *intake.Intake, from *connector.Source, a keep.Accepted, more []keep.Accepted) Result {
	t := taken{}
	t.first, t.more, _ = in.Enter(d.node.Clock.Now(), a, more)
	all, results := []taken{t}, []Result{{ID: t.first.Message.ID, Parts: 1}}
	if err := d.store(all, results, nil); err != nil {
		d.undo(in, from, all, results)
	} else {
		d.queue(in, from, all)
	}
	return results[0]
}

// receipt brings a receipt to the client that has submitted the message which it is about.
func (d *Desk) receipt(in *intake.Intake, from *connector.Source, m *sms.Message) Result {
	report, ok := m.Report()
	if !ok {
		m.Release()
		return Result{Code: sms.Malformed}
	}
	defer d.orders.wait(report.ID)()
	centre, count := d.receipts.Of(from.Connector.Config()), &d.receipts.Counts
	d.receipts.Received(centre, m)
	var f receipts.Match
	found, failed := d.receipts.Find(centre, m, &f), error(nil)
	if !found {
		found, failed = d.receipts.LookUp(centre, m, &f)
	}
	if failed != nil {
		return d.notLookedUp(m, failed)
	}
	if !found {
		centre.Missed.Store(true)
		from.Connector.Stats.Receipts.Add(report.State)
		count.Unmatched.Add(1)
		return d.deliver(in, from, keep.Accepted{Message: m}, nil)
	}
	share, verdict := d.receipts.Direct(d.node.Clock.Now(), m, &f)
	if verdict == receipts.Unread {
		if failed = d.receipts.Parts.Load(&f); failed != nil {
			return d.notLookedUp(m, failed)
		}
		share, verdict = d.receipts.Direct(d.node.Clock.Now(), m, &f)
	}
	switch verdict {
	case receipts.Dropped, receipts.Noted:
		m.Release()
		if verdict == receipts.Noted && d.keep.Committer.SyncSoon() != nil {
			return Result{Code: sms.SystemError}
		}
		from.Connector.Stats.Receipts.Add(report.State)
		return Result{}
	}
	return d.pass(in, from, m, share, &f, report.State)
}

// pass passes a receipt on to its client, if the client's lane has room for it.
func (d *Desk) pass(in *intake.Intake, from *connector.Source, m *sms.Message, s *connector.Share, f *receipts.Match, state sms.State) Result {
	if !in.HasRoom(keep.Accepted{Message: m, Share: s}) {
		d.intake.LogNoRoom(d.node.Clock.Now(), from, s)
		for _, other := range f.More {
			other.Release()
		}
		m.Release()
		from.CountRefused(sms.QueueFull)
		return Result{Code: sms.QueueFull}
	}
	from.Connector.Stats.Receipts.Add(state)
	d.receipts.Counts.Matched.Add(1)
	s.Lane.Ends.Count(f.Says)
	d.intake.WarnNearlyFull(s)
	var more []keep.Accepted
	for _, other := range f.More {
		more = append(more, keep.Accepted{Message: other, Share: s})
	}
	return d.deliver(in, from, keep.Accepted{Message: m, Share: s}, more)
}

// notLookedUp refuses a receipt for now: the store cannot say what it is about.
func (d *Desk) notLookedUp(m *sms.Message, err error) Result {
	d.keep.LogLookup(err)
	m.Release()
	return Result{Code: sms.SystemError}
}
