package receipts

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// What is looked after regularly: long messages that have waited for their parts, when recovery is over, orphans that
// are too old, and their memory.
func TestLookAfter(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	if v, _ := p.part(t, 0, sms.StateDelivered); v != Recorded {
		t.Fatalf("verdict %d", v)
	}
	p.makeOrphan("17", sms.StateDelivered)
	var end keep.Ending
	p.end = func(m *sms.Message, e keep.Ending) { end = e; p.forget(m, e) }
	now := p.now
	look := func() int64 {
		p.LookAfter(now)
		p.EndWaits()
		now += tidyReceiptsEvery
		return p.Counts.Own.Load()
	}
	p.Matcher.node.Clock.SetAhead(int64(p.Matcher.node.Config().Receipts.PartsWait) + 60e9)
	if n := look(); n != 0 {
		t.Errorf("%d clients are told before recovery is over", n)
	}
	if used := p.Matcher.node.Memory.Used(); used < orphanSize {
		t.Errorf("%d octets are counted for an orphan", used)
	}
	p.Matcher.keep.SetRecovered()
	for range 2 {
		if n := look(); n != 1 {
			t.Errorf("%d receipts are made", n)
		}
	}
	if p.Matcher.keep.Aside(store.Orphan) != 1 {
		t.Error("an orphan of yesterday is gone")
	}
	p.Matcher.node.Clock.SetAhead(2 * int64(p.Matcher.node.Config().Receipts.Keep))
	for range 10 { // a day's are forgotten by each
		look()
	}
	testutil.Eventually(t, "the orphan is gone", func() bool { return p.Matcher.keep.Aside(store.Orphan) == 0 })
	if n := p.Matcher.node.Origins.Of("", "operator").Tally.Expired.Load(); n != 1 {
		t.Errorf("%d are counted of its connector", n)
	}
	if end.State != events.Expired || end.Answer.Code != sms.Expired || !end.Aside {
		t.Errorf("it ends as %+v", end)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
