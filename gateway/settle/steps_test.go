package settle

import (
	"slices"
	"strings"
	"testing"

	"pmg/events"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

const asks = sms.NotifySuccess | sms.NotifyFailure

// stored gives the store a message that waits in a lane.
func (r *rig) stored(m *sms.Message) *sms.Message {
	r.t.Helper()
	if r.keep.Durable() {
		r.keep.Put(keep.Accepted{Message: m, Share: r.table.Share(r.lane, m.Origin)}, nil)
		r.sync()
	}
	return m
}

// has reports whether the store has a message, and what has changed of it.
func (r *rig) has(id uint64) (s store.State, ok bool) {
	r.t.Helper()
	r.sync()
	var e store.Entry
	ok, err := r.keep.Index.Get(id, &e)
	if err == nil && e.State != nil {
		s, err = store.DecodeState(e.State)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return s, ok
}

// finds returns which message a receipt of the SMSC with an id is about, after a restart too; 0: it is not known.
func (r *rig) finds(peerID string) uint64 {
	r.t.Helper()
	r.sync()
	m := r.node.Messages.Get()
	m.Origin = r.node.Origins.Of("", "operator")
	from, to := sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}
	m.SetReport(from, to, &sms.Report{ID: []byte(peerID), State: sms.StateDelivered})
	again := receipts.New(r.node, r.keep, r.table, hooks.New(nil), nil, nil)
	var f receipts.Match
	if ok, err := again.LookUp(again.Of(r.lane.Config()), m, &f); err != nil || !ok {
		return 0
	}
	return f.Mapping.ID
}

// made returns the states in the receipts that were made.
func (r *rig) made() (states []sms.State) {
	for _, own := range roomtest.Made(r.keep) {
		report, _ := own.Message.Report()
		states = append(states, report.State)
	}
	return states
}

// What is left of a message that has ended: nothing in its lane's place in the store, so that it is not sent again; the
// SMSC's id of it, without which its receipt would find no client; the answer to a query; a receipt that no SMSC will
// send.
func TestEnded(t *testing.T) {
	t.Parallel()
	taken := sms.Answer{PeerID: []byte("msg-17"), At: now + 2*second}
	refused := sms.Answer{Code: sms.BadDestination, Status: 11, At: now + 2*second}
	for name, c := range map[string]struct {
		notify   sms.Notify
		answer   sms.Answer
		finds    bool
		fate     sms.State // NoState: nothing is known
		receipts []sms.State
	}{
		"taken":                     {asks, taken, true, sms.StateEnroute, nil},
		"taken, nothing is asked":   {0, taken, false, sms.NoState, nil},
		"refused":                   {asks, refused, false, sms.StateRejected, []sms.State{sms.StateRejected}},
		"refused, success is asked": {sms.NotifySuccess, refused, false, sms.StateRejected, nil},
		"refused, nothing is asked": {0, refused, false, sms.NoState, nil},
		"too old": {asks, sms.Answer{Code: sms.Expired, At: now}, false, sms.StateExpired,
			[]sms.State{sms.StateExpired}},
		"deleted": {asks, sms.Answer{Code: sms.Deleted, At: now}, false, sms.StateDeleted,
			[]sms.State{sms.StateDeleted}},
	} {
		stores(t, func(t *testing.T, s store.Store) {
			r := newRig(t, "", s)
			m := r.stored(r.submitted(70, c.notify))
			m.Attempts = 2
			r.Ended(r.lane, m, c.answer, now+second)
			unsettled := r.keep.Unsettled.N.Load()
			if _, ok := r.has(70); ok || (unsettled == 1) != s.Durable() || r.keep.Unsettled.N.Load() != 0 {
				t.Errorf("%s: it is in the store: %v; %d messages wait for it to forget them, then %d", name, ok, unsettled,
					r.keep.Unsettled.N.Load())
			}
			if id := r.finds("msg-17"); (id == 70) != c.finds || id != 0 && id != 70 {
				t.Errorf("%s: the SMSC's receipt is about %d", name, id)
			}
			_, f, ok, err := r.Receipts.FateOf(70)
			if err != nil || ok != (c.fate != sms.NoState) || f.State != c.fate || ok && f.Since != c.answer.At+ahead {
				t.Errorf("%s: a query is told %+v, %v, %v", name, f, ok, err)
			}
			if got := r.made(); !slices.Equal(got, c.receipts) {
				t.Errorf("%s: receipts tell %s", name, got)
			}
			r.close()
		})
	}
}

// A receipt that comes before the answer to its message counts: the answer to a query must not go back to "on its
// way".
func TestEndedBehindReceipt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", store.NewMemory())
	receipt, of := roomtest.PartReceipt(r.node, 0, 1, sms.StateDelivered, "")
	r.Receipts.Direct(now, receipt, &receipts.Match{Mapping: of})
	r.Ended(r.lane, r.submitted(of.ID, asks), sms.Answer{PeerID: []byte("msg-17"), At: now}, now)
	if _, f, ok, err := r.Receipts.FateOf(of.ID); f.State != sms.StateDelivered || !ok || err != nil {
		t.Errorf("a query is told %+v, %v, %v", f, ok, err)
	}
	r.close()
}

// A message that was put aside leaves the store when it ends, whatever keeps it there.
func TestEndedAside(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "", s)
		m := r.stored(r.submitted(70, 0))
		r.keep.SetAside(m, store.Lane{Connector: "operator"}, store.Parked, "no route")
		if _, ok := r.has(70); !ok {
			t.Error("it is not put aside")
		}
		r.Forget(m, keep.Ending{State: events.Deleted, Aside: true}, nil)
		if _, ok := r.has(70); ok {
			t.Error("it is in the store though it has ended")
		}
		r.close()
	})
}

// A receipt whose message nobody knows ends when it is too old to be any use, with its event: it does not fill the store.
func TestEndedOrphan(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", onDisk(t))
	r.withEvents()
	m := r.submitted(75, 0)
	m.Kind, m.Flags, m.Origin = sms.Receipt, sms.HasReport, r.node.Origins.Of("", "operator")
	m.SetReport(m.Source(), m.Dest(), &sms.Report{ID: []byte("msg-17"), State: sms.StateDelivered})
	r.stored(m)
	r.keep.SetAside(m, store.Lane{}, store.Orphan, "no message is known")
	r.sync()
	r.Receipts.Orphans.Keep(m)
	r.Receipts.LookAfter(now)
	r.node.Clock.SetAhead(2 * int64(r.node.Config().Receipts.Keep))
	for hour := range int64(20) { // each forgets a day's
		r.Receipts.LookAfter(now + hour*3600*second)
	}
	testutil.Eventually(t, "it has left the store", func() bool { _, ok := r.has(75); return !ok })
	r.close()
	if e := r.events()[sms.FormatID(75)]; e["state"] != "expired" || e["about_smsc_id"] != "msg-17" {
		t.Errorf("its event is %v", e)
	}
}

// The answer to a copy of a message that has ended is an SMSC's id too: the receipt may come with it.
func TestDoubled(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "", s)
		m := r.submitted(70, asks)
		r.Ended(r.lane, m, sms.Answer{PeerID: []byte("msg-17"), At: now}, now)
		r.Doubled(r.lane, m, sms.Answer{PeerID: []byte("msg-18"), At: now})
		r.Doubled(r.lane, r.submitted(71, 0), sms.Answer{PeerID: []byte("msg-19"), At: now})
		for id, want := range map[string]uint64{"msg-17": 70, "msg-18": 70, "msg-19": 0} {
			if got := r.finds(id); got != want {
				t.Errorf("a receipt of %s is about %d", id, got)
			}
		}
		r.close()
	})
}

// A gateway that stops sends no more of what a store keeps, and all of what only memory has. Too many messages whose end the
// store does not know halt it as well.
func TestHalted(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "", s)
		if r.Halted(now) || r.node.Draining() {
			t.Error("halted at the start")
		}
		r.keep.Unsettled.N.Store(1 << 16)
		if !r.Halted(now) {
			t.Error("not halted though the store does not follow")
		}
		r.keep.Unsettled.N.Store(0)
		if r.Halted(now) {
			t.Error("halted though it does")
		}
		r.node.Drain()
		if r.Halted(now) != s.Durable() || !r.node.Draining() {
			t.Errorf("halted: %v", r.Halted(now))
		}
		r.close()
	})
}

// A message that an operator deletes counts as cancelled, another that no peer has ended as failed: for its account and its
// connector.
func TestEndUnsent(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", store.NewMemory())
	stats := r.lane.Home().Stats
	m := r.submitted(70, 0)
	for _, c := range []struct {
		code              sms.Code
		cancelled, failed int64
	}{{sms.Deleted, 1, 0}, {sms.Expired, 1, 1}, {sms.Rejected, 1, 2}, {sms.Deleted, 2, 2}} {
		r.EndUnsent(now, r.lane, m, c.code)
		a := m.Origin.Tally
		if stats.Cancelled.Load() != c.cancelled || a.Cancelled.Load() != c.cancelled || stats.Failed.Load() != c.failed ||
			a.Failed.Load() != c.failed {
			t.Errorf("%s: %d and %d cancelled, %d and %d failed", c.code, stats.Cancelled.Load(), a.Cancelled.Load(),
				stats.Failed.Load(), a.Failed.Load())
		}
	}
	if s := r.log.String(); strings.Count(s, "\n") != 2 || strings.Contains(s, "deleted") {
		t.Errorf("the log has %s", s)
	}
	r.close()
}
