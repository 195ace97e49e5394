package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
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

// The parts of long messages, by header or by parameters, take one SMSC each of a weighted route.
func TestPartsTakeOneTarget(t *testing.T) {
	parallel(t)
	const messages, parts = 60, 3
	one, two := newSMSC(t), newSMSC(t)
	g := start(t, site{
		more: row("one", one, "window: 500") + row("two", two, "window: 500"), routes: "{to: [one, two], policy: weighted}",
	})
	smscs := []*peer{one.session(), two.session()}
	g.online("one", 1)
	g.online("two", 1)
	c := g.bind("transmitter")
	for part := 1; part <= parts; part++ {
		for n := range messages {
			form := fmt.Sprintf(`esm_class=0x40 short_message="\x05\x00\x03\x%02x\x%02x\x%02xx"`, n, parts, part)
			if n%2 == 1 {
				form = fmt.Sprintf(`short_message="%d" sar_msg_ref_num=%d sar_total_segments=%d sar_segment_seqnum=%d`, n, n, parts, part)
			}
			c.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s", part*messages+n, form))
		}
	}
	c.accepted(messages, (parts+1)*messages-1)
	testutil.Eventually(t, "all are under way", func() bool {
		return g.stats("one").InFlight.Load()+g.stats("two").InFlight.Load() == messages*parts
	})
	where := map[string]int{}
	for i, name := range []string{"one", "two"} {
		n := int(g.stats(name).InFlight.Load())
		if n%parts != 0 || n == 0 {
			t.Errorf("%s has %d of %d parts", name, n, messages*parts)
		}
		for range n {
			line := smscs[i].want("submit_sm")
			key := field(line, "sar_msg_ref_num")
			if key == "" {
				key = field(line, "short_message")
				key = key[:len(key)-len(`\x01x"`)] // without the number and the text
			}
			if at, known := where[key]; known && at != i {
				t.Errorf("parts of %s go to both", key)
			}
			where[key] = i
			smscs[i].answer(0, field(line, "seq"))
		}
	}
	if len(where) != messages {
		t.Errorf("%d messages, want %d", len(where), messages)
	}
	testutil.Eventually(t, "everything is counted", func() bool { return g.Pending() == 0 })
}
