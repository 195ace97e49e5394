package receipts

import (
	"slices"
	"testing"
	"time"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// Which receipts a client wants that has asked for one kind of outcome.
func TestWants(t *testing.T) {
	t.Parallel()
	kinds := map[sms.State]sms.Notify{
		sms.StateScheduled: sms.NotifyProgress, sms.StateEnroute: sms.NotifyProgress,
		sms.StateDelivered: sms.NotifySuccess, sms.StateAccepted: sms.NotifySuccess,
		sms.NoState: sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress,
	}
	for _, s := range append(sms.States(), sms.NoState) {
		kind := kinds[s]
		if kind == 0 {
			kind = sms.NotifyFailure
		}
		for n := range sms.Notify(8) {
			if got := wants(n, s); got != (n&kind != 0) {
				t.Errorf("%s: who asks for %03b wants it: %v", s, n, got)
			}
		}
	}
}

// Which ids get a receipt: that of the message, or those of the messages that it was joined of.
func TestReceivers(t *testing.T) {
	t.Parallel()
	const success, failure = sms.NotifySuccess, sms.NotifyFailure
	for _, c := range []struct {
		notify sms.Notify // of the message
		joined []sms.Joined
		state  sms.State
		known  uint64
		others []uint64
	}{
		{success, nil, sms.StateDelivered, 5000, nil},
		{failure, nil, sms.StateDelivered, 0, nil},
		{success, []sms.Joined{{ID: 1, Notify: success}, {ID: 2, Notify: success}, {ID: 3, Notify: success}}, sms.StateDelivered, 1, []uint64{2, 3}},
		{success, []sms.Joined{{ID: 1, Notify: failure}, {ID: 2, Notify: success}, {ID: 3, Notify: failure}, {ID: 4, Notify: success}}, sms.StateDelivered, 2, []uint64{4}},
		{success, []sms.Joined{{ID: 1, Notify: failure}}, sms.StateDelivered, 0, nil},
	} {
		var m sms.Message
		m.Set(sms.Address{}, sms.Address{}, nil)
		if c.joined != nil {
			m.SetSubmitted(&sms.Submitted{Joined: c.joined})
		}
		f := store.Mapping{ID: 5002, Offset: 2, Notify: c.notify, Submitted: m.SubmittedOctets()}
		if known, others := receivers(&f, c.state); known != c.known || !slices.Equal(others, c.others) {
			t.Errorf("%+v: %d, %d", c, known, others)
		}
	}
}

// How long a receipt took is counted for its connector, once a message, whether or not its client has asked for it: since
// the message was accepted, or was to leave.
func TestDelay(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.Matcher.node.Clock.SetAhead(int64(time.Hour))
	delays := &p.Matcher.table.Connector("operator").Stats.Receipt
	for _, c := range []struct {
		state              sms.State
		notify             sms.Notify
		arrived, deliverAt time.Duration // before now
		seconds            int64         // 0: none is counted
	}{
		{sms.StateDelivered, sms.NotifySuccess, 3 * time.Second, 0, 3},
		{sms.StateExpired, 0, 48 * time.Hour, 0, 48 * 3600},
		{sms.StateDelivered, sms.NotifyFailure, time.Hour, 2 * time.Second, 2},
		{sms.StateEnroute, sms.NotifyProgress, time.Hour, 0, 0},
		{sms.StateDelivered, sms.NotifySuccess, -time.Second, 0, 0}, // the clock was set
	} {
		counted, sum := countOf(&delays.Histogram), delays.Sum.Load()
		m, f := partOf(p, 0, 1, c.state, "")
		wall := p.Matcher.node.Clock.Wall(p.now)
		f.Mapping.Notify, f.Mapping.Arrived, f.Mapping.DeliverAt = c.notify, wall-int64(c.arrived), 0
		if c.deliverAt != 0 {
			f.Mapping.DeliverAt = wall - int64(c.deliverAt)
		}
		p.Direct(p.now, m, f)
		if got := (delays.Sum.Load() - sum) * connector.DelayScale / int64(time.Second); got != c.seconds || countOf(&delays.Histogram)-counted != 1 && c.state.Final() {
			t.Errorf("%+v: %d s", c, got)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// countOf returns how many durations a histogram has counted.
func countOf(h *connector.Histogram) (n int64) {
	for i := range h.Buckets {
		n += h.Buckets[i].Load()
	}
	return n
}

// A receipt for a client has the client's addresses, its own validity, and nothing of what the SMSC's had beside the
// report.
func TestAddress(t *testing.T) {
	t.Parallel()
	const own = sms.Protocol(1)
	p := newRig(t)
	day := int64(24 * time.Hour)
	p.Matcher.node.Clock.SetAhead(day)
	for _, c := range []struct{ report, want sms.Report }{
		{sms.Report{State: sms.StateDelivered}, sms.Report{Submitted: 700, Done: p.now + day}},
		{sms.Report{State: sms.StateAccepted}, sms.Report{Submitted: 700, Done: p.now + day}},
		{sms.Report{State: sms.StateEnroute}, sms.Report{Submitted: 700}},
		{sms.Report{State: sms.StateDelivered, Submitted: 800, Done: 900}, sms.Report{Submitted: 800, Done: 900}},
		{
			sms.Report{State: sms.StateDelivered, Submitted: 800, Done: 900, Context: []byte("order 7"), Accepted: 3},
			sms.Report{Submitted: 800, Done: 900, Accepted: 700},
		},
		{ // the SMSC has whole minutes
			sms.Report{State: sms.StateDelivered, Submitted: 800, Done: 660, Context: []byte("order 7"), Accepted: 3},
			sms.Report{Submitted: 800, Done: 700, Accepted: 700},
		},
	} {
		m := p.receipt("46700000001", c.report)
		m.SetNative(own, []byte("n"))
		m.Arrived, m.DeliverAt, m.NotBefore, m.Expires = 1, 2, 3, 4
		m.Notify, m.Offset, m.Part, m.Parts = sms.NotifySuccess, 1, 1, 2
		m.Flags |= sms.HasHeader | sms.ReplyPath | sms.RelativeValidity
		_, f := partOf(p, 0, 1, sms.StateDelivered, "")
		f.Mapping.Arrived, f.Mapping.Context = 700, c.report.Context
		var written sms.Message
		written.Set(sms.Address{}, sms.Address{}, nil)
		written.SetSubmitted(&sms.Submitted{Source: sms.Address{Addr: []byte("alias")}, Dest: sms.Address{Addr: []byte("0700000001")}})
		f.Mapping.Submitted = written.SubmittedOctets()
		r, _ := m.Report()
		p.address(p.now, m, &f.Mapping, &r, 5000)
		r, ok := m.Report()
		if !ok || r.Known != 5000 || r.State != c.report.State || r.Submitted != c.want.Submitted || r.Done != c.want.Done || r.Accepted != c.want.Accepted {
			t.Errorf("%+v: %+v", c.report, r)
		}
		if string(m.Source().Addr) != "0700000001" || string(m.Dest().Addr) != "alias" || string(m.Native(own)) != "n" {
			t.Errorf("from %s to %s with %q", m.Source().Addr, m.Dest().Addr, m.Native(own))
		}
		if m.Arrived != p.now || m.DeliverAt != 0 || m.NotBefore != 0 || m.Expires != p.now+int64(validity(&p.Matcher.node.Config().Receipts, f.Mapping.Context)) {
			t.Errorf("arrived %d, due %d, not before %d, expires %d", m.Arrived, m.DeliverAt, m.NotBefore, m.Expires)
		}
		if m.Notify != 0 || m.Offset != 0 || m.Part != 0 || m.Parts != 0 || m.Flags != sms.HasReport {
			t.Errorf("asks for %d, offset %d, part %d of %d, flags %b", m.Notify, m.Offset, m.Part, m.Parts, m.Flags)
		}
	}
}

// A webhook is not called in the first moments of a message. If it gets both, the event of the end does not come
// together with the one that the message was sent.
func TestToldAfter(t *testing.T) {
	t.Parallel()
	const ms, now = int64(time.Millisecond), int64(1e18)
	for _, c := range []struct {
		context string
		arrived int64 // before now
		notify  sms.Notify
		taken   bool
		want    int64 // after now; 0: immediately
	}{
		{"", 0, sms.NotifySent, true, 0},
		{"x", 0, sms.NotifySent, true, 200 * ms},
		{"x", 150 * ms, sms.NotifySent, true, 50 * ms},
		{"x", 200 * ms, sms.NotifySent, true, 0},
		{"x", 0, sms.NotifySuccess, false, 400 * ms},
		{"x", 300 * ms, sms.NotifySuccess, false, 100 * ms},
		{"x", 500 * ms, sms.NotifySuccess, false, 0},
		{"x", 500 * ms, sms.NotifySuccess | sms.NotifySent, false, 400 * ms},
		{"x", -int64(time.Hour), sms.NotifySent, true, 0}, // the clock was set
		{"x", -int64(time.Hour), sms.NotifySent, false, 0},
	} {
		want := c.want
		if want != 0 {
			want += now
		}
		if got := toldAfter(now, now-c.arrived, &store.Mapping{Context: []byte(c.context), Notify: c.notify}, &sms.Report{Taken: c.taken}); got != want {
			t.Errorf("%+v: %d ms after", c, (got-now)/ms)
		}
	}
}

// A receipt whose message is among the latest ones is found and becomes the client's without an allocation, but for the batch that
// grows.
func TestReceiptAllocatesNothing(t *testing.T) {
	p := newRig(t)
	p.accepted("msg-1")
	o, c := p.operator(), Match{}
	report := sms.Report{ID: []byte("msg-1"), State: sms.StateDelivered, Err: []byte("000"), Original: []byte("id:msg-1 stat:DELIVRD")}
	m := p.receipt("46700000001", report)
	from, to := sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}
	n := testing.AllocsPerRun(1000, func() {
		m.SetReport(from, to, &report)
		r, _ := m.Report()
		p.Received(o, r.ID)
		c = c.Emptied()
		if !p.Find(o, m, &r, &c) {
			t.Error("the message is not found")
		}
		if _, v := p.Direct(p.now, m, &c); v != passOn {
			t.Errorf("the verdict is %d", v)
		}
	})
	if n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
