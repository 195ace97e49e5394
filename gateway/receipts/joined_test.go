package receipts

import (
	"testing"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// longPart returns part of a message of three, which its client knows by the id of the first.
func (p *rig) longPart(part uint8) *sms.Message {
	m := p.submitted(sms.NotifySuccess | sms.NotifyFailure | sms.NotifySent)
	m.SetNative(sms.WithContext, (&sms.Context{Reference: "order 7"}).Append(nil))
	m.ID, m.Offset, m.Part, m.Parts = 7000+uint64(part), uint16(part), part, 3
	return m
}

// The receipt of a long message says that no SMSC has taken it if none has taken its first part, because that is the
// one that the client knows. Its id is that of the first part, and its error the SMSC's answer for the worst one. The
// answer to a query is the same.
func TestTakenOfParts(t *testing.T) {
	t.Parallel()
	refused := sms.Answer{Code: sms.BadDestination, Status: 11}
	type end struct {
		part  uint8
		state events.State // Sent: the SMSC has taken it
		told  sms.State    // by the SMSC's receipt, NoState: by none
	}
	for name, c := range map[string]struct {
		ends    []end
		want    sms.State
		untaken bool
		id      string
		parts   uint8
	}{
		"all are delivered":               {[]end{{0, 0, sms.StateDelivered}, {1, 0, sms.StateDelivered}, {2, 0, sms.StateDelivered}}, sms.StateDelivered, false, "a", 3},
		"one is not":                      {[]end{{0, 0, sms.StateDelivered}, {2, 0, sms.StateUndeliverable}}, sms.StateUndeliverable, false, "a", 3},
		"the first is refused":            {[]end{{0, events.Rejected, 0}}, sms.StateRejected, true, "", 3},
		"another is refused before it":    {[]end{{1, events.Rejected, 0}}, sms.StateRejected, true, "", 3},
		"another is refused behind it":    {[]end{{0, events.Sent, 0}, {1, events.Rejected, 0}}, sms.StateRejected, false, "", 3},
		"another is refused, behind ends": {[]end{{1, 0, sms.StateDelivered}, {2, events.Rejected, 0}}, sms.StateRejected, false, "b", 3},
	} {
		p := newRig(t)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		p.Matcher.keep.LastStored = 0
		var last sms.Report
		for _, e := range c.ends {
			m := p.longPart(e.part)
			if e.told != sms.NoState {
				v := store.MappingOf(m, 0)
				f := &Match{}
				if err := f.Set(v.Append(nil)); err != nil {
					t.Fatal(err)
				}
				r := p.receipt("46700000001", sms.Report{ID: []byte{'a' + e.part}, State: e.told})
				if _, v := p.Direct(p.now, r, f); v == passOn {
					last, _ = r.Report()
				}
				continue
			}
			made := p.OwnReceipt(m, &keep.Ending{State: e.state, Lane: store.Lane{Connector: "operator"}, Answer: refused})
			if made.message != nil {
				if last, _ = made.message.Report(); made.message.Origin.Connector != "operator" {
					t.Errorf("%s: it comes from %s", name, made.message.Origin.Connector)
				}
			}
		}
		if last.State != c.want || last.Untaken != c.untaken || string(last.ID) != c.id || last.Parts != c.parts || (len(last.Answer) > 4) != (c.want == sms.StateRejected) {
			t.Errorf("%s: %+v", name, last)
		}
		v, f, ok, err := p.FateOf(7000)
		if !ok || err != nil || f.State != c.want || f.Untaken != c.untaken || f.Parts != c.parts || string(v.By) != "operator" || string(v.PeerID) != c.id || len(f.Answer) != len(last.Answer) {
			t.Errorf("%s: a query is told %+v by %s %q; %v, %v", name, f, v.By, v.PeerID, ok, err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}
