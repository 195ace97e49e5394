package session_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// tell plays a receipt of an SMSC about its message 7.
func (p *port) tell(l *connector.Link, s sms.State) *request {
	m := p.g.Node.Messages.Get()
	m.Origin = p.g.Node.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte("7"), State: s})
	r := p.New(l)
	p.c.Receipt(p.now, l, r, m)
	return r
}

// taken returns the states of the receipts that a lane has, or, with a colon, that are to be kept as
// orphans, in order.
func (p *port) taken() (states []string) {
	state := func(m *sms.Message) string { r, _ := m.Report(); return fmt.Sprint(r.State) }
	for _, m := range p.queued {
		states = append(states, state(m))
	}
	for _, s := range p.storing {
		states = append(states, ":"+state(s.Message))
	}
	return states
}

// smsc begins a session to the SMSC.
func (p *port) smsc() *connector.Link {
	l := &connector.Link{Source: connector.Source{Origin: p.g.Node.Origins.Of("", "operator")}}
	l.Open(&connector.Instance{Connector: p.operator}, netip.AddrPort{}, p.now, nil)
	return l
}

// check runs what other goroutines would do.
func (p *port) lookUps() {
	for len(p.checks) > 0 {
		f := p.checks[0]
		p.checks = p.checks[1:]
		f()
	}
}

// end goes on with what was stored, and closes the gateway.
func (p *port) end() {
	p.t.Helper()
	for _, s := range p.storing {
		p.c.Stored(p.now, s, sms.SystemError)
	}
	if err := p.g.Close(); err != nil {
		p.t.Error(err)
	}
}

// The receipts of a message reach the client in the order in which they came, even if the message
// of the first is looked for when the answer comes that makes it known. If the message stays
// unknown, they are orphans in that order.
func TestReceiptsInOrder(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		p := newPort(t, "")
		if err := p.g.Keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		l := p.smsc()
		p.tell(l, sms.StateEnroute)
		if known {
			o := p.g.Receipts.Of(p.operator.Config())
			v := store.Mapping{ID: 5000, Notify: sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress, Account: []byte("client"), Connector: []byte("clients"),
				Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
			p.g.Keeper.Batches.Write(func(b *store.Batch) { p.g.Receipts.RecordMapping(b, o, &v, []byte("7"), p.now, false) })
			if err := p.g.Keeper.Batches.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		p.tell(l, sms.StateDelivered)
		p.tell(l, sms.StateDelivered) // once more
		p.lookUps()
		var want []string
		for _, state := range []sms.State{sms.StateEnroute, sms.StateDelivered, sms.StateDelivered} {
			want = append(want, map[bool]string{false: ":"}[known]+fmt.Sprint(state))
		}
		if got := p.taken(); !slices.Equal(got, want) {
			t.Errorf("known %v: %q, want %q", known, got, want)
		}
		if p.c.Left().Searches != 0 || l.Storing != len(p.storing) {
			t.Errorf("known %v: %d searches are left, %d wait", known, p.c.Left().Searches, l.Storing)
		}
		p.end()
	}
}

// Receipts that wait for another are dropped when their session is over, and those of other
// sessions go on.
func TestReceiptsInOrderOver(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	if err := p.g.Keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	one, two := p.smsc(), p.smsc()
	p.tell(one, sms.StateEnroute)
	first := p.tell(one, sms.StateDelivered)
	p.tell(two, sms.StateDelivered)
	one.Enter(connector.Over)
	p.c.DropReceipts(one)
	if first.gone != "dropped" || two.Storing != 1 {
		t.Errorf("%q, %d wait", first.gone, two.Storing)
	}
	p.lookUps()
	if got := p.taken(); len(got) != 1 || p.c.Left().Searches != 0 {
		t.Errorf("%q are left, %d searches", got, p.c.Left().Searches)
	}
	p.end()
}
