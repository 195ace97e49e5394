package operate

import (
	"testing"

	"pmg/account"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/gateway/route"
	"pmg/gateway/settle"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// A rig is a desk with what stands below it, and a store in memory.
type rig struct{ *Desk }

// newRig makes a rig whose wall clock is ahead.
func newRig(t *testing.T, ahead int64) rig {
	t.Helper()
	table := roomtest.Table(t, roomtest.Operator(""))
	table.Clock.SetAhead(ahead)
	c, r := convert.NewDesk(table), receipts.NewDesk(table)
	s := settle.NewDesk(table, c, r)
	table.Open(store.NewMemory(), func(uint64, error) {})
	table.SetRecovered()
	d := NewDesk(table, r, s, intake.NewDesk(table, c, r, s))
	d.SetDo(func(_ *connector.Lane, f func(int64)) bool { f(now); return true })
	return rig{d}
}

// made returns what was made that its lanes have not been given yet.
func (r rig) made() []keep.Own {
	all, _ := r.Outgoing.Waiting()
	return all
}

func (r rig) close() error { return r.Keeper.Close() }

// An id of which only the remainder is known is that of the latest message with it.
func TestWholeID(t *testing.T) {
	t.Parallel()
	d := &Desk{Table: &route.Table{Keeper: new(keep.Keeper)}}
	d.IDs.Store(1_000_123)
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

// Accounts that search are told to wait while others do.
func TestSearchesOfOthers(t *testing.T) {
	t.Parallel()
	d := newRig(t, 0)
	accounts := account.NewTable(d.Config(), account.NewRegistry())
	l := account.Login{SystemID: []byte("client"), Password: []byte("secret"), Connector: "clients", Bind: protocols.Transceiver}
	client, result := accounts.LogIn(1, l, accounts.Verify(l))
	if client == nil {
		t.Fatal(result)
	}
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

// What is told or kept of a message has times by the wall clock, also where that is ahead of the
// engine's clock: when a message that an operator deletes from the disk was submitted, and when one had ended at a kill.
func TestWallClockOfReceipts(t *testing.T) {
	t.Parallel()
	const ahead = 3600 * second
	d := newRig(t, ahead)
	share := d.Share(d.LaneOf(d.Connector("operator")), d.Origins.Of("client", "clients"))
	deleted := d.Messages.Get()
	deleted.Origin, deleted.Notify, deleted.Arrived = share.Origin, sms.NotifyFailure, now+ahead
	d.deleted(now+second, share.Lane, &found{id: 1, message: deleted}, nil)
	told, _ := d.made()[0].Message.Report()
	if told.Submitted != now+ahead || told.Done != now+second+ahead {
		t.Errorf("submitted at %d, deleted at %d; want %d, %d", told.Submitted, told.Done, now+ahead, now+second+ahead)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// R26: the receipt of a message that was accepted before the wall clock was set back leaves now, and not when that
// time has come again.
func TestWallClockSetBack(t *testing.T) {
	t.Parallel()
	d := newRig(t, 0)
	share := d.Share(d.LaneOf(d.Connector("operator")), d.Origins.Of("client", "clients"))
	deleted := d.Messages.Get()
	deleted.Origin, deleted.Notify, deleted.Arrived = share.Origin, sms.NotifyFailure, d.Clock.Now()+3600*second
	d.deleted(d.Clock.Now(), share.Lane, &found{id: 1, message: deleted}, nil)
	if at := d.made()[0].Message.Arrived; at > d.Clock.Now() {
		t.Errorf("it waits for %d s", (at-d.Clock.Now())/second)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
