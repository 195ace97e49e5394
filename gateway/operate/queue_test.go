package operate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// fill stores one message of each kind and state, whose ids count from 1, and returns what operators see of them.
func (r *rig) fill() []StoredMessage {
	r.t.Helper()
	arrived, old := time.Unix(0, now).UTC(), time.Unix(3600, 0).UTC()
	later := arrived.Add(time.Hour)
	smsc := r.Operations.node.Origins.Of("", "operator")
	const source, dest, reason = "1234", "46700000001", "so it is"
	put := func(m *sms.Message, lane store.Lane, why store.Aside) {
		r.Operations.keep.Batches.Write(func(b *store.Batch) {
			b.Put(m, lane)
			if why != store.InLane {
				r.Operations.keep.KeepAside(b, m, lane, why, reason)
			}
		})
	}
	operator, client := keep.LaneName(r.share.Lane), store.Lane{Account: "client"}

	m := r.message(0, 1)
	m.Priority, m.DeliverAt, m.Expires = 2, now+3600*second, now+3600*second
	put(m, operator, store.InLane)
	m.Attempts, m.NotBefore = 1, now+3600*second
	r.Operations.keep.KeepState(r.share.Lane, m)
	m = r.message(0, 1)
	m.Arrived = old.UnixNano()
	put(m, store.Lane{}, store.Parked)
	put(r.message(0, 1), operator, store.Quarantined)
	m = r.message(0, 1)
	m.Origin, m.Kind = smsc, sms.MO
	put(m, client, store.InLane)
	m = r.message(0, 1)
	m.Origin = smsc
	m.SetReport(sms.Address{Addr: []byte(dest)}, sms.Address{Addr: []byte(source)}, &sms.Report{Known: 17, State: sms.StateDelivered, Original: []byte("id:17")})
	put(m, client, store.InLane)
	m = r.message(0, 1)
	m.Origin = smsc
	m.SetReport(sms.Address{Addr: []byte(dest)}, sms.Address{Addr: []byte(source)}, &sms.Report{ID: []byte("18"), State: sms.StateExpired})
	put(m, store.Lane{}, store.Orphan)
	m = r.message(0, 1)
	m.Origin = smsc
	m.SetReport(sms.Address{Addr: []byte(dest)}, sms.Address{Addr: []byte(source)}, &sms.Report{Known: 19, State: sms.StateEnroute})
	put(m, client, store.Asked)
	if err := r.Operations.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}

	text := func(s string) *string { return &s }
	return []StoredMessage{
		{ID: sms.FormatID(1), State: StateQueued, Connector: "operator", Account: "client", From: "clients", Kind: "submit", Source: source, Dest: dest,
			Priority: 2, Attempts: 1, Arrived: arrived, DeliverAt: &later, NextAttempt: &later, Expires: &later, Octets: 4, Text: text("text")},
		{ID: sms.FormatID(2), State: StateParked, Reason: reason, Account: "client", From: "clients", Kind: "submit", Source: source, Dest: dest,
			Arrived: old, Octets: 4, Text: text("text")},
		{ID: sms.FormatID(3), State: StateQuarantined, Reason: reason, Connector: "operator", Account: "client", From: "clients", Kind: "submit",
			Source: source, Dest: dest, Arrived: arrived, Octets: 4, Text: text("text")},
		{ID: sms.FormatID(4), State: StateQueued, Receiver: "client", From: "operator", Kind: "mo", Source: source, Dest: dest,
			Arrived: arrived, Octets: 4, Text: text("text")},
		{ID: sms.FormatID(5), State: StateQueued, Receiver: "client", From: "operator", Kind: "receipt", Source: dest, Dest: source,
			Arrived: arrived, Text: text("id:17"), About: sms.FormatID(17), Delivery: "delivered"},
		{ID: sms.FormatID(6), State: StateOrphan, Reason: reason, From: "operator", Kind: "receipt", Source: dest, Dest: source,
			Arrived: arrived, Delivery: "expired"},
		{ID: sms.FormatID(7), State: StateAsked, Reason: reason, Receiver: "client", From: "operator", Kind: "receipt", Source: dest, Dest: source,
			Arrived: arrived, About: sms.FormatID(19), Delivery: "enroute"},
	}
}

// Operators see all that is known of each message, and their texts if they ask for those.
func TestShow(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	want := r.fill()
	for _, texts := range []bool{true, false} {
		p, err := r.ListStored(Selection{Text: texts}, 0, 100)
		if err != nil || len(p.Messages) != len(want) || p.Looked != len(want) || p.Next != 0 || p.UpTo != 7 || p.Memory {
			t.Fatalf("%+v, %v", p, err)
		}
		for i, got := range p.Messages {
			if !texts {
				want[i].Text = nil
			}
			if got.Kind == "receipt" { // their octets are not a text
				got.Octets = 0
			}
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("got\n%+v, want\n%+v", got, want[i])
			}
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Each condition of a selection holds.
func TestSelection(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	all := r.fill()
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		Selection
		want []int
	}{
		{Selection{}, []int{1, 2, 3, 4, 5, 6, 7}},
		{Selection{State: StateQueued}, []int{1, 4, 5}},
		{Selection{State: StateParked}, []int{2}},
		{Selection{State: StateQuarantined}, []int{3}},
		{Selection{State: StateOrphan}, []int{6}},
		{Selection{State: StateAsked}, []int{7}},
		{Selection{State: StateUnreadable}, nil},
		{Selection{Kind: "submit"}, []int{1, 2, 3}},
		{Selection{Kind: "mo"}, []int{4}},
		{Selection{Kind: "receipt"}, []int{5, 6, 7}},
		{Selection{Connector: "operator"}, []int{1, 3}},
		{Selection{Connector: "clients"}, nil},
		{Selection{Account: "client"}, []int{1, 2, 3, 4, 5, 7}},
		{Selection{Account: "other"}, nil},
		{Selection{Dest: "467"}, []int{1, 2, 3, 4}},
		{Selection{Dest: "123", State: StateQueued}, []int{5}},
		{Selection{Older: 40 * year}, []int{2}},
		{Selection{Older: 200 * year}, nil},
		{Selection{UpTo: 2}, []int{1, 2}},
		{Selection{Has: []byte("467")}, []int{1, 2, 3, 4, 5, 6, 7}}, // of a sender as well
		{Selection{Has: []byte("468")}, nil},
		{Selection{IDs: []uint64{3, 1, 99}}, []int{1, 3}},
		{Selection{IDs: []uint64{3, 1}, State: StateQueued}, []int{1}},
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []int
			for from, more := uint64(0), true; more; {
				p, err := r.ListStored(c.Selection, from, limit)
				if err != nil || len(p.Messages) > limit {
					t.Fatal(p, err)
				}
				for _, m := range p.Messages {
					got = append(got, 1+slices.IndexFunc(all, func(known StoredMessage) bool { return known.ID == m.ID }))
				}
				from, more = p.Next, p.Next != 0
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v, %d on a page: %v, want %v", c.Selection, limit, got, c.want)
			}
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A damaged message is found by its id alone, and can be deleted alone.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	r.store(r.message(0, 1))
	m := r.message(0, 1)
	r.store(m)
	r.disk.damaged = m.ID
	if p, err := r.ListStored(Selection{}, 0, 100); err != nil || len(p.Messages) != 1 || p.Looked != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	named := Selection{IDs: []uint64{m.ID}}
	if p, err := r.ListStored(named, 0, 100); err != nil || len(p.Messages) != 1 || p.Messages[0].State != StateUnreadable || p.Messages[0].Reason == "" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, c := range [][2]string{{RetryMessages, ResultBad}, {MoveMessages, ResultBad}, {DeleteMessages, ResultDeleted}, {DeleteMessages, ""}} {
		if got := strings.Join(r.change(c[0], named), " "); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// An operator sees what the store has not done.
func TestChangeNotStored(t *testing.T) {
	t.Parallel()
	for _, what := range []string{DeleteMessages, RetryMessages, MoveMessages} {
		for _, aside := range []bool{false, true} {
			r := newDurableRig(t)
			m := r.message(0, 1)
			if aside {
				r.park(m)
			} else {
				r.store(m)
				r.share.Lane.Queues.Restore(now, r.share, waitingOf(&found{id: m.ID, message: m}, 0))
			}
			r.disk.full.Store(true)
			p, err := r.ChangeStored(t.Context(), QueueChange{What: what, To: "operator"}, Selection{}, 0, 100)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("cannot %s messages", what)) {
				t.Errorf("%s, aside %v: %+v, %v", what, aside, p, err)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
