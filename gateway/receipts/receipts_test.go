package receipts

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// What old ids stand for and receipts without a message are forgotten after receipts.keep.
func TestTidyReceipts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if err := g.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	now, keep := g.Matcher.node.Clock.Now(), int64(g.Matcher.node.Config().Receipts.Keep)
	day := int64(24 * time.Hour)
	m := g.Matcher.node.Messages.Get()
	m.Origin = g.Matcher.node.Origins.Of("", "operator")
	m.SetReport(sms.Address{}, sms.Address{}, &sms.Report{ID: []byte("7"), State: sms.StateDelivered})
	m.ID, m.Arrived = g.Matcher.keep.IDs.Add(1), now-keep-2*day
	g.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Note(store.IDsOf("operator"), []byte("old"), []byte("value"), store.DayOf(now-keep-day))
		b.Note(store.IDsOf("operator"), []byte("new"), []byte("value"), store.DayOf(now-keep+day))
		b.Put(m, store.Lane{})
		g.Matcher.keep.KeepAside(b, m, store.Lane{}, store.Orphan, "")
	})
	if err := g.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	g.Orphans.Keep(m)
	g.tidyReceipts(now)
	g.tidyReceipts(now + tidyReceiptsEvery - 1) // too early for the next look
	if n := len(g.Orphans.all); n != 1 {
		t.Fatalf("%d orphans after one look", n)
	}
	g.tidyReceipts(now + tidyReceiptsEvery)
	testutil.Eventually(t, "the orphan is Dropped", func() bool { return g.Matcher.keep.Aside(store.Orphan) == 0 })
	if err := g.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"old": false, "new": true} {
		if _, ok, err := g.Matcher.keep.Index.Lookup(store.IDsOf("operator"), []byte(id)); ok != want || err != nil {
			t.Errorf("%s is there: %v, %v", id, ok, err)
		}
	}
	var e store.Entry
	if ok, _ := g.Matcher.keep.Index.Get(m.ID, &e); ok || g.Matcher.keep.Aside(store.Orphan) != 0 || len(g.Orphans.all) != 0 || len(g.Orphans.by) != 0 {
		t.Errorf("the orphan is there: %v, %d are counted", ok, g.Matcher.keep.Aside(store.Orphan))
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// A wall clock that is a month ahead for an hour or two has one day forgotten, and no more.
func TestTidyReceiptsClock(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if err := g.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	now, keep := g.Matcher.node.Clock.Now(), int64(g.Matcher.node.Config().Receipts.Keep)
	now -= now % day // the hours between the looks are all of one day
	g.Matcher.keep.Batches.Write(func(b *store.Batch) {
		for n := range int64(7) {
			b.Note(store.IDsOf("operator"), []byte{byte(n)}, []byte("value"), store.DayOf(now-n*day))
		}
	})
	left := func() (n int) {
		t.Helper()
		if err := g.Matcher.keep.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		for i := range byte(7) {
			if _, ok, _ := g.Matcher.keep.Index.Lookup(store.IDsOf("operator"), []byte{i}); ok {
				n++
			}
		}
		return n
	}
	look := func(ahead int64) {
		g.Matcher.node.Clock.SetAhead(ahead)
		g.tidyReceipts(now)
		now += tidyReceiptsEvery
	}
	look(0)
	look(0)
	before := g.SMSCs.forgotten
	if look(30 * day); g.SMSCs.forgotten != before {
		t.Errorf("ids before day %d are forgotten by one look, %d before", g.SMSCs.forgotten, before)
	}
	look(0)
	if n := left(); n != 7 {
		t.Fatalf("%d days are left after a step for an hour", n)
	}
	look(30 * day)
	look(30 * day)
	look(30 * day)
	if n := left(); n < 5 {
		t.Errorf("%d days are left after three hours", n)
	}
	look(0)
	g.SMSCs.forms, g.SMSCs.forgotten = nil, 0
	if err := g.SMSCs.Load(); err != nil || g.SMSCs.forgotten < store.DayOf(now-keep) {
		t.Errorf("a restart forgets what was forgotten: %d, %v", g.SMSCs.forgotten, err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// A receipt of a message whose account is gone goes to nobody, which the log says, unless the client asks for it by itself;
// and one that names a message of its client goes by no route. So it is with those that the gateway makes.
func TestHomelessReceipt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		context  *sms.Context
		homeless bool
	}{{nil, true}, {&sms.Context{URL: "http://127.0.0.1:1/x"}, true}, {&sms.Context{Reference: "order 7"}, false}} {
		g := newRig(t)
		var log testutil.Log
		g.Matcher.node.Log = zerolog.New(&log)
		m, f := partOf(g, 0, 1, sms.StateDelivered, "000")
		f.Mapping.Account = []byte("gone")
		own := g.submitted(sms.NotifyFailure)
		own.Origin = g.Matcher.node.Origins.Of("gone", "clients")
		if c.context != nil {
			f.Mapping.Context = c.context.Append(nil)
			own.SetNative(sms.WithContext, f.Mapping.Context)
		}
		want := int64(0)
		if c.homeless {
			want = 1
		}
		if _, v := g.Direct(1, m, f); v != Recorded || g.Counts.Homeless.Load() != want {
			t.Errorf("%+v: verdict %d, %d are homeless", c.context, v, g.Counts.Homeless.Load())
		}
		if n := strings.Count(log.String(), `"account":"gone","message":"receipt dropped`); int64(n) != want {
			t.Errorf("%+v: the log has %s", c.context, log.String())
		}
		if made := g.OwnReceipt(own, &keep.Ending{State: events.Expired}); made.IsAny() || g.Counts.Homeless.Load() != 2*want {
			t.Errorf("%+v: one that is made: %v, %d are homeless", c.context, made.IsAny(), g.Counts.Homeless.Load())
		}
	}
	g := newRig(t)
	m, f := partOf(g, 0, 1, sms.StateDelivered, "000")
	s, v := g.Direct(1, m, f)
	if v != passOn || s.Lane.Account != "client" {
		t.Fatalf("verdict %d", v)
	}
	if g.Matcher.table.Route(m) != nil {
		t.Error("a route takes it")
	}
	if m.Expires != 1+int64(g.Matcher.node.Config().Receipts.Validity) {
		t.Errorf("expires at %d", m.Expires)
	}
}

// The addresses of a receipt agree with a message's recipient in whatever form they are
// written, and not with another number.
func TestIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, dest, recipient string
		want                    bool
	}{
		{"46700000001", "1234", "46700000001", true},
		{"0700000001", "1234", "46700000001", true},
		{"+46 70-000 00 01", "1234", "0046700000001", true},
		{"1234", "46700000001", "46700000001", true}, // not swapped
		{"46700000002", "1234", "46700000001", false},
		{"46710000001", "1234", "46700000001", true}, // in a form without the code of its country or network
		{"", "1234", "46700000001", true},
		{"PMG", "1234", "46700000001", true},
		{"46700000001", "1234", "name", true},
		{"72", "1234", "72", true},
		{"73", "1234", "72", false},
		{"12", "1234", "72", false},
		{"2", "1234", "2", true},
		{"2", "1234", "3", false},
		{"46700000002", "PMG", "46700000001", false},
		{"46700000019", "1234", "46700000001", false}, // T17: nine and zero are digits
		{"46700000010", "1234", "46700000001", false},
	} {
		var m sms.Message
		m.Set(sms.Address{Addr: []byte(c.source)}, sms.Address{Addr: []byte(c.dest)}, nil)
		if got := isAbout(&m, []byte(c.recipient)); got != c.want {
			t.Errorf("from %q to %q about %q: %v", c.source, c.dest, c.recipient, got)
		}
	}
}
