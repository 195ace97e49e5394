package intake

import (
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
)

// Messages get their places, octets and ids when they are accepted, and are counted
// together at Flush. Scheduled messages take no place. Two intakes never return the same
// id.
func TestIntake(t *testing.T) {
	t.Parallel()
	d := newDesk(t, roomtest.Operator("max_queue: 10"))
	clients := d.table.Connector("clients")
	a, b := shareOf(d, "client"), shareOf(d, "other")
	lane, client, other := a.Lane, a.Origin, b.Origin
	in, second := d.NewIntake(3), d.NewIntake(1)
	ids := map[uint64]bool{}
	last := uint64(0)
	take := func(i *Intake, o *sms.Origin, deliver int64) *sms.Message {
		m := d.node.Messages.Get()
		m.Origin, m.DeliverAt = o, deliver
		s := a
		if o == other {
			s = b
		}
		i.Accept(now, m, s)
		i.Count(clients, m)
		if ids[m.ID] || i == in && m.ID <= last {
			t.Errorf("id %d after %d", m.ID, last)
		}
		if ids[m.ID] = true; i == in {
			last = m.ID
		}
		return m
	}
	hasRoom := func(s *connector.Share) bool { return in.Fits(keep.Accepted{Message: &sms.Message{}, Share: s}) }
	size := int64(0)
	for range 4 {
		if !hasRoom(a) {
			t.Error("no room for half of the queue")
		}
		size += take(in, client, 0).Size()
	}
	size += take(in, client, now+1).Size()
	if lane.Queued.Load() != 3 || !hasRoom(a) { // in a small queue a message is counted when the next one asks for room
		t.Errorf("%d are counted, or a scheduled message takes a place", lane.Queued.Load())
	}
	size += take(in, client, 0).Size()
	if hasRoom(a) {
		t.Error("room for more than half of the queue")
	}
	if !hasRoom(b) || lane.Queued.Load() != 5 { // asking for another share counts
		t.Errorf("no room for another account, or %d queued", lane.Queued.Load())
	}
	size += take(in, other, 0).Size()
	in.Flush()
	in.Flush()
	for range 4 {
		size += take(second, other, 0).Size()
	}
	if lane.Queued.Load() != 10 || a.Queued() != 5 || b.Queued() != 5 || d.node.Memory.Used() != size || clients.Stats.Accepted.Load() != 11 {
		t.Errorf("%d queued, %d and %d of the accounts, %d octets, %d accepted", lane.Queued.Load(), a.Queued(), b.Queued(), d.node.Memory.Used(), clients.Stats.Accepted.Load())
	}
}

// Receipts count among what was accepted, and for themselves.
func TestReceiptsAreCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, roomtest.Operator(""))
	smsc, o := d.table.Connector("operator"), d.node.Origins.Of("client", "clients")
	in := d.NewIntake(2)
	for _, kind := range []sms.Kind{sms.Receipt, sms.MO, sms.Receipt, sms.Submit} {
		in.Count(smsc, &sms.Message{Kind: kind, Origin: o})
	}
	in.Flush()
	in.Count(smsc, &sms.Message{Origin: o})
	in.Flush()
	if accepted, receipts := smsc.Stats.Accepted.Load(), smsc.Stats.ReceiptsIn.Load(); accepted != 5 || receipts != 2 {
		t.Errorf("%d accepted, %d receipts", accepted, receipts)
	}
}
