package operate

import (
	"testing"

	"pmg/gateway/keep"
	"pmg/protocols"
	"pmg/sms"
)

// An id of which only the remainder is known is that of the latest message with it.
func TestWholeID(t *testing.T) {
	t.Parallel()
	d := &Operations{keep: new(keep.Keeper)}
	d.keep.IDs.Store(1_000_123)
	for _, f := range []struct {
		id, modulo, want uint64
		ok               bool
	}{
		{1, 0, 1, true}, {0, 0, 0, false}, {1_000_123, 0, 1_000_123, true}, {1_000_124, 0, 0, false},
		{123, 1000, 1_000_123, true}, {124, 1000, 999_124, true}, {0, 1000, 1_000_000, true},
		{1_000_123, 1 << 40, 1_000_123, true}, {1_000_124, 1 << 40, 0, false},
	} {
		id, ok := d.wholeID(f.id, f.modulo)
		if ok != f.ok || ok && id != f.want {
			t.Errorf("%d modulo %d is %d, %t", f.id, f.modulo, id, ok)
		}
	}
}

// Accounts that search are refused for now while others do.
func TestSearchesOfOthers(t *testing.T) {
	t.Parallel()
	d := newRig(t, 0)
	client := d.client()
	list := func() sms.Code {
		o := d.Begin(client, protocols.SMPP, protocols.Operation{Kind: protocols.Cancel})
		o.Run()
		return o.Code
	}
	d.searching.Add(maxSearching)
	if code := list(); code != sms.Throttled {
		t.Errorf("while others search: %s", code)
	}
	d.searching.Add(-1)
	if code := list(); code != sms.Rejected || d.searching.Load() != maxSearching-1 || d.operating.Load() != 0 {
		t.Errorf("when one has ended: %s, %d search, %d are under way", code, d.searching.Load(), d.operating.Load())
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// The times of a message that are shown or stored are by the wall clock, also where that is ahead of the engine's
// clock: when a message was submitted that is deleted from the disk, had ended at a kill, or is put aside.
func TestWallClockOfReceipts(t *testing.T) {
	t.Parallel()
	const ahead = 3600 * second
	for name, end := range map[string]func(*rig, *sms.Message){
		"deleted from the disk": func(r *rig, m *sms.Message) {
			m.Arrived += ahead
			r.deleted(now, r.share.Lane, &found{id: m.ID, message: m}, nil)
		},
		"a client cancels one that is parked": func(r *rig, m *sms.Message) {
			r.park(m)
			r.ask(protocols.Cancel, m.ID)
		},
		"an operator deletes one that is parked": func(r *rig, m *sms.Message) {
			r.park(m)
			r.change(DeleteMessages, Selection{})
		},
	} {
		r := newRig(t, ahead)
		m := r.message(0, 1)
		m.Arrived -= second
		end(r, m)
		if len(r.made()) != 1 {
			t.Fatalf("%s: %d receipts", name, len(r.made()))
		}
		told, _ := r.made()[0].Message.Report()
		if told.Submitted != now-second+ahead || told.Done != now+ahead {
			t.Errorf("%s: submitted at %d, deleted at %d; want %d, %d", name, told.Submitted, told.Done, now-second+ahead, now+ahead)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// R26: the receipt of a message that was accepted before the wall clock was set back leaves now, and not when that
// time has come again.
func TestWallClockSetBack(t *testing.T) {
	t.Parallel()
	d := newRig(t, 0)
	deleted := d.message(0, 1)
	deleted.Arrived = d.Operations.node.Clock.Now() + 3600*second
	d.deleted(d.Operations.node.Clock.Now(), d.share.Lane, &found{id: 1, message: deleted}, nil)
	if at := d.made()[0].Message.Arrived; at > d.Operations.node.Clock.Now() {
		t.Errorf("it waits for %d s", (at-d.Operations.node.Clock.Now())/second)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// An operation is about what its client has submitted, from the sender and to the recipient that it names, and about nothing
// else: whether the message waits in memory or on disk, or has left.
func TestIsAbout(t *testing.T) {
	t.Parallel()
	address := func(s string) sms.Address { return sms.Address{Addr: []byte(s)} }
	for name, c := range map[string]struct {
		account string
		asked   protocols.Operation
		is      bool
	}{
		"its message":       {"client", protocols.Operation{}, true},
		"by id alone":       {"client", protocols.Operation{Source: address("1235"), ByID: true}, true},
		"to the recipient":  {"client", protocols.Operation{Dest: address("46700000001")}, true},
		"another account's": {"other", protocols.Operation{}, false},
		"another's by id":   {"other", protocols.Operation{ByID: true}, false},
		"from another":      {"client", protocols.Operation{Source: address("1235")}, false},
		"to another":        {"client", protocols.Operation{Dest: address("46700000009")}, false},
	} {
		for _, kind := range []protocols.OperationKind{protocols.Query, protocols.Cancel} {
			for place, rig := range map[string]func(*testing.T) *rig{
				"memory": func(t *testing.T) *rig { return newRig(t, 0) }, "disk": newDurableRig, "left": newDurableRig,
			} {
				r := rig(t)
				m := r.message(0, 1)
				share := r.Operations.table.Share(r.share.Lane, r.Operations.node.Origins.Of(c.account, "clients"))
				m.Origin = share.Origin
				asked := c.asked
				asked.Kind, asked.ID = kind, m.ID
				if asked.Source.Addr == nil {
					asked.Source = address("1234")
				}
				if place == "left" {
					r.Operations.settler.Ended(share.Lane, m, sms.Answer{Code: sms.Rejected, At: now}, now)
				} else {
					r.store(m)
					share.Lane.Queues.Push(now, share, m)
				}
				o := r.Begin(r.client(), protocols.SMPP, asked)
				o.Run()
				want := sms.Rejected
				if c.is && (place != "left" || kind == protocols.Query) {
					want = sms.OK
				}
				if o.Code != want {
					t.Errorf("%s, %v, in %s: %s, want %s", name, kind, place, o.Code, want)
				}
				if s := o.Result; c.is && place == "left" && (s.State != sms.StateRejected || s.Since != now) {
					t.Errorf("%s, %v: %v since %d", name, kind, s.State, s.Since)
				}
				if err := r.close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Without an id a cancel is about all messages that its protocol's fields fit.
func TestCancelMany(t *testing.T) {
	t.Parallel()
	for _, rig := range []*rig{newRig(t, 0), newDurableRig(t)} {
		var all []*sms.Message
		for range 4 {
			all = append(all, rig.message(0, 1))
		}
		rig.store(all...)
		for _, m := range all {
			rig.share.Lane.Queues.Push(now, rig.share, m)
		}
		cancel := protocols.Operation{Kind: protocols.Cancel, Fits: func(m *sms.Message) bool { return m.ID%2 == 0 }}
		for _, want := range []sms.Code{sms.OK, sms.Rejected} {
			if code := rig.carryOut(cancel); code != want || rig.share.Lane.Queues.Len() != 2 {
				t.Errorf("it is %s, %d wait", code, rig.share.Lane.Queues.Len())
			}
		}
		if err := rig.close(); err != nil {
			t.Error(err)
		}
	}
}
