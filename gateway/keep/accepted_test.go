package keep_test

import (
	"strings"
	"testing"

	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A message takes a place for each part that its lane will send, and one where it is put aside, in which it stays whole.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	known, _ := roomtest.PartReceipt(p.Node, 0, 1, sms.StateDelivered, "000")
	known.SetReport(sms.Address{}, sms.Address{}, &sms.Report{ID: []byte("a"), Known: 7})
	orphan, _ := roomtest.PartReceipt(p.Node, 0, 1, sms.StateDelivered, "000")
	whole, three := p.message(), p.message()
	whole.Parts, three.Parts = 1, 3
	for _, c := range []struct {
		name   string
		m      *sms.Message
		inLane bool
		places int64
		why    store.Aside
	}{
		{"in a lane", p.message(), true, 1, store.InLane},
		{"of one part", whole, true, 1, store.InLane},
		{"of three parts", three, true, 3, store.InLane},
		{"of three parts, without a route", three, false, 1, store.Parked},
		{"a receipt of a known message, without a route", known, false, 1, store.Parked},
		{"a receipt of no known message", orphan, false, 1, store.Orphan},
		{"a receipt of no known message, in a lane", orphan, true, 1, store.InLane},
	} {
		a := keep.Accepted{Message: c.m}
		octets := c.m.Size()
		if c.inLane {
			a.Share, octets = p.share(), c.m.SizeInParts()
		}
		if a.Places() != c.places || a.Octets() != octets || a.Aside() != c.why {
			t.Errorf("%s: %d places, %d octets, %d, want %d, %d, %d", c.name, a.Places(), a.Octets(), a.Aside(), c.places, octets, c.why)
		}
	}
	if three.SizeInParts() <= three.Size() {
		t.Error("parts take no more room than the whole")
	}
}

// What was accepted is in the store when its commit has ended, each message under the name of its lane; what is put aside has its
// reason, and counts for its account if an operator is to find it a route.
func TestPut(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(p *rig, first keep.Accepted, more []keep.Accepted) store.Position{
		"put": func(p *rig, first keep.Accepted, more []keep.Accepted) store.Position {
			return p.Keeper.Put(first, more)
		},
		"collected": func(p *rig, first keep.Accepted, more []keep.Accepted) store.Position {
			var b store.Batch
			p.Keeper.Collect(&b, first, more)
			at := p.Keeper.Append(&b)
			if b.Len() != 0 {
				t.Error("the batch is not emptied")
			}
			return at
		},
	} {
		p := newRig(t)
		client := p.Table.Share(p.Table.AccountLane(p.Node.Config(), "client"), p.Node.Origins.Of("", "operator"))
		held, orphan := p.message(), p.message()
		sms.SetMark(held, sms.Held, "spam")
		orphan.SetReport(sms.Address{}, sms.Address{}, &sms.Report{ID: []byte("a")})
		all := []keep.Accepted{
			{Message: p.message(), Share: p.share()}, {Message: p.message(), Share: client}, {Message: p.message()},
			{Message: held}, {Message: orphan},
		}
		if at := put(p, all[0], all[1:]); at.IsZero() {
			t.Errorf("%s: it waits for no commit", name)
		}
		p.sync()
		for i, want := range []store.State{
			{Lane: store.Lane{Connector: "operator"}}, {Lane: store.Lane{Account: "client", Connector: client.Lane.Endpoint}},
			{Aside: store.Parked, Reason: "no route leads anywhere"}, {Aside: store.Parked, Reason: "held by plugin spam"},
			{Aside: store.Orphan, Reason: "no message is known that the receipt belongs to"},
		} {
			m, lane, s := p.read(all[i].Message.ID)
			if m == nil || m.ID != all[i].Message.ID || m.Origin != all[i].Message.Origin {
				t.Fatalf("%s: message %d is %+v", name, i, m)
			}
			if lane != want.Lane || s.Aside != want.Aside || s.Reason != want.Reason {
				t.Errorf("%s: message %d is in %+v: %+v", name, i, lane, s)
			}
		}
		parked := &p.Node.Origins.TallyOf("client").Parked
		if p.Keeper.Aside(store.Parked) != 2 || p.Keeper.Aside(store.Orphan) != 1 || parked.Load() != 2 {
			t.Errorf("%s: %d are parked, %d orphans, %d of the account", name, p.Keeper.Aside(store.Parked), p.Keeper.Aside(store.Orphan), parked.Load())
		}
		p.Keeper.CountAside(held.Origin, store.Parked, -2)
		p.Keeper.CountAside(held.Origin, store.Orphan, -1)
		if p.Keeper.Aside(store.Parked) != 0 || p.Keeper.Aside(store.Orphan) != 0 || parked.Load() != 0 {
			t.Errorf("%s: taken up again, they still count", name)
		}
		if log := p.log.String(); strings.Count(log, "a message was put aside") != 1 || !strings.Contains(log, `"account":"client"`) {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
}

// A store in memory has what is put aside and nothing else, because nothing could be read after the end of the process.
func TestPutInMemory(t *testing.T) {
	t.Parallel()
	p := &rig{Ground: roomtest.New(t, roomtest.Operator("")), t: t}
	waits, aside := p.message(), p.message()
	p.Keeper.Put(keep.Accepted{Message: waits, Share: p.share()}, []keep.Accepted{{Message: aside}})
	if at := p.Keeper.KeepState(p.share().Lane, waits); !at.IsZero() {
		t.Error("its state is stored")
	}
	if token := p.Keeper.Leaves(p.share().Lane, waits); token != 0 || !p.Keeper.IsStored(token) {
		t.Errorf("it leaves with intent %d", token)
	}
	p.sync()
	if m, _, _ := p.read(waits.ID); m != nil {
		t.Error("the store has the one that waits")
	}
	if m, _, s := p.read(aside.ID); m == nil || s.Aside != store.Parked {
		t.Errorf("the one put aside is %+v, %+v", m, s)
	}
	if !p.Keeper.Recovered() {
		t.Error("it waits for an earlier run")
	}
}

// What has changed of a message that waits again is in the store under its lane: a peer may have it from Leaves to Stays.
func TestKeepState(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	m, l := p.message(), p.share().Lane
	p.Keeper.Put(keep.Accepted{Message: m}, nil)
	want := func(why string, attempts uint8, underWay bool) {
		t.Helper()
		p.sync()
		got, lane, s := p.read(m.ID)
		if got == nil || got.Attempts != attempts || s.UnderWay != underWay || lane.Connector != "operator" {
			t.Errorf("%s: %+v in %+v: %+v", why, got, lane, s)
		}
	}
	m.Attempts = 3
	if at := p.Keeper.KeepState(l, m); at.IsZero() {
		t.Error("it waits for no commit")
	}
	want("it waits again", 3, false)
	token := p.Keeper.Leaves(l, m)
	if token == 0 || p.Keeper.IsStored(token) {
		t.Errorf("intent %d is safe before its commit", token)
	}
	want("it leaves", 3, true)
	if !p.Keeper.IsStored(token) {
		t.Error("its intent is not safe")
	}
	m.Attempts = 4
	p.Keeper.Stays(l, m)
	want("it stays", 4, false)
}
