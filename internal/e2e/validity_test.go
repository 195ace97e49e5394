package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// Delivery times and validity, given or by option, are kept over a power cut: each message that
// expires ends so once, in whichever life, and a scheduled one waits for its time.
func TestValidityOverRestart(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "events")
	s := site{
		operator: newSMSC(t), store: vfs.NewCrashableMem(), top: eventsIn(dir),
		accounts: "{system_id: brief, password: secret, validity: 3s}", routes: "{to: operator}",
	}
	s.operator.down()
	g := start(t, s)
	c, brief := g.bind("transmitter"), g.dial("clients")
	brief.bind("transmitter", "brief", "secret")
	c.submitOne(1, "validity_period=000000000001000R")
	testutil.Eventually(t, "the first has expired", func() bool { return g.stats("operator").Expired.Load() == 1 && g.synced() })
	c.submitOne(2, "validity_period=000000000003000R")
	brief.submitOne(3)
	c.submitOne(4, "validity_period=000000010000000R")
	c.submitOne(5, "schedule_delivery_time=000000000002000R")
	c.submitOne(6, "schedule_delivery_time=000000003000000R")
	c.submitOne(7)
	before := g.stats("operator")
	g = g.powerCut(&s, c, brief)
	s.operator.down()
	testutil.Eventually(t, "two more have expired", func() bool { // on a busy machine before the power cut already
		return before.Expired.Load()-1+g.stats("operator").Expired.Load() >= 2
	})
	s.operator.up()
	smsc := s.operator.session()
	got := map[string]string{}
	for range 3 {
		line := smsc.want("submit_sm")
		got[field(line, "short_message")] = field(line, "validity_period")
		smsc.answer(0, field(line, "seq"))
	}
	if v := got[`"4"`]; !strings.HasPrefix(v, "0000000") || !strings.HasSuffix(v, "R") {
		t.Errorf("sent with validity: %v", got)
	}
	testutil.Eventually(t, "one message waits for its time", func() bool { return g.Pending() == 0 && g.Scheduled() == 1 })
	smsc.conn.Close()
	g.stop()
	ends := map[string]int{}
	for _, e := range readEvents(t, dir) {
		ends[e.State]++
	}
	if ends["expired"] != 3 || ends["sent"] != 3 || len(ends) != 2 {
		t.Errorf("events %v", ends)
	}
}
