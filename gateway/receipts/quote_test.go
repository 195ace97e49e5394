package receipts

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// quoted is a message of priced that came by HTTP, and whose client knows its price.
func (p *rig) quoted(parts uint8, undo bool) *sms.Message {
	m := p.priced(7000, sms.Terms{List: "p", Undo: undo})
	m.Notify, m.Parts = sms.NotifySuccess|sms.NotifyFailure, parts
	m.SetNative(sms.WithContext, (&sms.Context{Reference: "7", Quote: sms.Quote{Price: 50_000, Currency: "EUR"}}).Append(nil))
	return m
}

// wantQuote checks the price that is recorded of the message of quoted.
func (p *rig) wantQuote(why, want string) {
	p.t.Helper()
	v, _, ok, err := p.FateOf(7000)
	if err != nil || !ok {
		p.t.Fatalf("%s: %v, %v", why, ok, err)
	}
	if q := sms.QuoteOf(v.Context); q.String() != want {
		p.t.Errorf("%s: the price is %q, not %q", why, q, want)
	}
	if c, ok := sms.ReadContext(v.Context); !ok || c.Reference != "7" {
		p.t.Errorf("%s: the context is %+v", why, c)
	}
}

// What is recorded as the price of a message is what its account pays in the end; where that is not known, no price is recorded.
func TestQuoteOfReceipts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		undo   bool
		states []sms.State
		want   string
	}{
		{"accepted", true, nil, "0.05 EUR"},
		{"delivered", true, []sms.State{sms.StateDelivered}, "0.05 EUR"},
		{"given back", true, []sms.State{sms.StateUndeliverable}, "0.00 EUR"},
		{"given back once", true, []sms.State{sms.StateExpired, sms.StateUndeliverable}, "0.00 EUR"},
		{"given back, and then delivered", true, []sms.State{sms.StateExpired, sms.StateDelivered}, "0.00 EUR"},
		{"delivered, and then not", true, []sms.State{sms.StateDelivered, sms.StateUndeliverable}, "0.05 EUR"},
		{"nobody knows", true, []sms.State{sms.StateUnknown}, "0.05 EUR"},
		{"charged when accepted", false, []sms.State{sms.StateUndeliverable}, "0.05 EUR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := keepAgain(t, vfs.NewMem())
			p.ended(p.quoted(0, c.undo), "msg-1", false)
			for _, s := range c.states {
				p.takes("msg-1", s)
			}
			p.wantQuote(c.name, c.want)
		})
	}
}

// A receipt that comes before the message has ended does not say what the message costs, and nor does one of a late answer.
func TestQuoteNotKnown(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	m := p.quoted(0, true)
	p.RecordAnswer(p.operator(), p.table.Connector("operator").Config(), m, []byte("msg-1"))
	p.takes("msg-1", sms.StateRejected)
	p.wantQuote("before the end", "")
	v := store.MappingOf(m, 0)
	if forgetQuote(&v); sms.QuoteOf(v.Context).IsKnown() {
		t.Errorf("%x", v.Context)
	}
}

// A message that no SMSC has accepted costs nothing; a part that none has accepted says nothing of the other parts.
func TestQuoteOfEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		parts  uint8
		state  events.State
		charge sms.Money
		want   string
	}{
		{"sent", 0, events.Sent, 50_000, "0.05 EUR"},
		{"sent, and failed before", 0, events.Sent, 0, "0.00 EUR"},
		{"cut", 0, events.Cut, 0, "0.05 EUR"},
		{"rejected", 0, events.Rejected, 0, "0.00 EUR"},
		{"expired", 1, events.Expired, 0, "0.00 EUR"},
		{"deleted", 0, events.Deleted, 0, "0.00 EUR"},
		{"a part sent", 2, events.Sent, 50_000, "0.05 EUR"},
		{"a part rejected", 2, events.Rejected, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := keepAgain(t, vfs.NewMem())
			m := p.quoted(c.parts, false)
			e := keep.Ending{State: c.state, Charge: c.charge, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: p.now}}
			p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordEnd(b, m, &e, 0) })
			p.wantQuote(c.name, c.want)
		})
	}
}
