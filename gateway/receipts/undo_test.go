package receipts

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/sms"
	"pmg/store"
)

// priced is a message of the account shop, which pays 0.05 for it if it is delivered. The client wants no receipt.
func (p *rig) priced(id uint64, terms sms.Terms) *sms.Message {
	m := p.node.Messages.Get()
	m.ID, m.Origin = id, p.node.Origins.Of("shop", "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("hello"))
	m.Origin.Tally.Credit.SetTerms(terms)
	sms.SetPrice(m, 50_000, 1)
	return m
}

// takes gives the gateway a receipt of the operator, as a session does. It returns what becomes of it.
func (p *rig) takes(id string, s sms.State) Verdict {
	p.t.Helper()
	m := p.receipt("46700000001", sms.Report{ID: []byte(id), State: s})
	var f Match
	found, err := p.LookUp(p.operator(), m, &f)
	if err != nil || !found {
		p.t.Fatalf("the message of %s: %v, %v", id, found, err)
	}
	_, v := p.Direct(p.now, m, &f)
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	return v
}

// An account that pays for what is delivered gets the price of a message back when a receipt says that it was not: once, over a
// restart, and also if the receipt comes before the message has ended. It is answered when that is stored.
func TestUndo(t *testing.T) {
	t.Parallel()
	terms := sms.Terms{List: "p", Undo: true}
	for _, c := range []struct {
		name   string
		terms  sms.Terms
		states []sms.State
		back   bool
	}{
		{"not delivered", terms, []sms.State{sms.StateUndeliverable}, true},
		{"expired, and told again", terms, []sms.State{sms.StateAccepted, sms.StateExpired, sms.StateUndeliverable, sms.StateExpired}, true},
		{"delivered", terms, []sms.State{sms.StateEnroute, sms.StateDelivered}, false},
		{"delivered, and then not", terms, []sms.State{sms.StateDelivered, sms.StateUndeliverable, sms.StateExpired}, false},
		{"nobody knows", terms, []sms.State{sms.StateUnknown, sms.NoState}, false},
		{"charged when accepted", sms.Terms{List: "p"}, []sms.State{sms.StateUndeliverable}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs := vfs.NewMem()
			p := keepAgain(t, fs)
			p.ended(p.priced(7000, c.terms), "msg-1", false)
			for i, s := range c.states {
				want := Dropped
				if c.back && i == len(c.states)-1 && i == 0 || c.back && s == sms.StateExpired && i == 1 {
					want = Recorded
				}
				if v := p.takes("msg-1", s); v != want {
					t.Errorf("%v: verdict %v, not %v", s, v, want)
				}
			}
			credit := &p.node.Origins.TallyOf("shop").Credit
			balance, _ := credit.Balance()
			if got := balance == 50_000; got != c.back || len(p.refunded) != int(balance/50_000) {
				t.Errorf("the balance is %s, refunds %+v", balance, p.refunded)
			}
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
			p = keepAgain(t, fs)
			p.priced(1, c.terms)
			for _, s := range c.states {
				p.takes("msg-1", s)
			}
			if balance, _ := p.node.Origins.TallyOf("shop").Credit.Balance(); balance != 0 {
				t.Errorf("after a restart it gets %s", balance)
			}
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A receipt may come between the answer of the SMSC and the end of the message: the message is not charged then.
func TestUndoBeforeEnd(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	m := p.priced(7000, sms.Terms{List: "p", Undo: true})
	p.RecordAnswer(p.operator(), p.table.Connector("operator").Config(), m, []byte("msg-1"))
	if p.Refunds.HasFailed(7000) {
		t.Error("it has failed already")
	}
	if v := p.takes("msg-1", sms.StateRejected); v != Dropped || !p.Refunds.HasFailed(7000) {
		t.Errorf("verdict %v, has failed %v", v, p.Refunds.HasFailed(7000))
	}
	sms.SetPrice(m, 0, 0) // as the step price does
	p.ended(m, "msg-1", false)
	p.takes("msg-1", sms.StateRejected)
	if balance, _ := m.Origin.Tally.Credit.Balance(); balance != 0 || len(p.refunded) != 0 {
		t.Errorf("the balance is %s, refunds %+v", balance, p.refunded)
	}
}

// A message that was sent twice has two ids of its SMSC. A receipt of the copy that was not charged takes nothing from the other.
func TestUndoOfCopies(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	m := p.priced(7000, sms.Terms{List: "p", Undo: true})
	p.ended(m, "msg-2", false)
	v := store.MappingOf(m, 0)
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordMapping(b, p.operator(), &v, []byte("msg-1"), p.now, false) }) // answered late
	for _, id := range []string{"msg-1", "msg-2", "msg-1", "msg-2"} {
		p.takes(id, sms.StateUndeliverable)
	}
	if balance, _ := m.Origin.Tally.Credit.Balance(); balance != 50_000 || len(p.refunded) != 1 {
		t.Errorf("the balance is %s, refunds %+v", balance, p.refunded)
	}
}
