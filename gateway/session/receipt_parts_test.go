package session_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// What a receipt belongs to is kept while the outcomes of other parts are read from the store,
// whatever receipts of the session come meanwhile.
func TestReceiptWhileReading(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	if err := p.g.Keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.g.Keeper.LastStored = 6000
	first, f := partOf(p.g, 0, 2, sms.StateDelivered, "000")
	key := append(binary.BigEndian.AppendUint64(nil, f.Mapping.WholeID()), 0)
	p.g.Keeper.Batches.Write(func(b *store.Batch) { b.Note(store.KindPart, key, first.Text(), store.DayOf(p.g.Node.Clock.WallNow())) })
	if err := p.g.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	note := func(id string, v *store.Mapping) {
		p.g.Keeper.Batches.Write(func(b *store.Batch) {
			p.g.Receipts.RecordMapping(b, p.g.Receipts.Of(p.operator.Config()), v, []byte(id), p.now, false)
		})
	}
	second, f := partOf(p.g, 1, 2, sms.StateDelivered, "000")
	note("b", &f.Mapping)
	others, f := partOf(p.g, 2, 1, sms.StateDelivered, "000")
	f.Mapping.ID, f.Mapping.Offset, f.Mapping.Account, f.Mapping.Source.Addr = 7000, 0, []byte("other"), []byte("9999")
	note("c", &f.Mapping)

	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	for _, m := range []*sms.Message{second, others} {
		p.open++
		p.c.Receipt(p.now, l, &request{}, m)
	}
	p.check()
	for _, m := range p.queued {
		want := map[uint64]string{5000: "1234", 7000: "9999"}
		if r, _ := m.Report(); string(m.Dest().Addr) != want[r.Known] {
			t.Errorf("the receipt of message %d goes to %s", r.Known, m.Dest().Addr)
		}
	}
	if len(p.queued) != 2 {
		t.Errorf("%d receipts", len(p.queued))
	}
	if err := p.g.Close(); err != nil {
		t.Error(err)
	}
}

// partOf returns a receipt of a part, and the match of that.
func partOf(g *gateway.Gateway, part, parts uint8, state sms.State, err string) (*sms.Message, *receipts.Match) {
	m, v := roomtest.PartReceipt(g.Node, part, parts, state, err)
	f := &receipts.Match{}
	if err := f.Set(v.Append(nil)); err != nil {
		panic(err)
	}
	return m, f
}

// A receipt that the client has not asked for still says what became of the message, which the client may ask: the SMSC is
// answered when that is stored.
func TestUnwantedReceiptIsRecorded(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, errors.New("no space left")} {
		p := newPort(t, "")
		d := roomtest.NewDisk()
		if err := p.g.Keep(d); err != nil {
			t.Fatal(err)
		}
		commits := make(chan struct{})
		go func() {
			for range d.Begun {
				d.Permits <- fault
			}
			close(commits)
		}()
		v := store.Mapping{ID: 5000, Notify: sms.NotifyFailure, Account: []byte("client"), Connector: []byte("clients"),
			Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
		p.g.Keeper.Batches.Write(func(b *store.Batch) {
			p.g.Receipts.RecordMapping(b, p.g.Receipts.Of(p.operator.Config()), &v, []byte("7"), p.now, false)
		})
		r := p.tell(p.smsc(), sms.StateDelivered)
		p.want("before the commit", r, "", 0)
		p.lookUps()
		gone, counted := "sent", int64(1)
		if fault != nil {
			gone, counted = "dropped", 0
		}
		p.want(fmt.Sprint("behind the commit: ", fault), r, gone, sms.OK)
		if n := p.operator.Stats.Receipts.Counts()[sms.StateDelivered.String()]; n != counted {
			t.Errorf("%v: %d receipts count", fault, n)
		}
		if len(p.queued) != 0 {
			t.Errorf("%d receipts go to the client", len(p.queued))
		}
		p.g.Keeper.Batches.Close()
		close(d.Begun)
		<-commits
	}
}
