package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// soon makes the pauses between attempts short.
const soon = "throttle_pause: 1ms, retry: {throttled: [1ms], temporary: [1ms], lost: [1ms]}"

// A client that takes a window of receipts and leaves, a thousand times, loses none. What is
// logged of it does not grow with the number of its sessions.
func TestReceiptsOfLeavingClient(t *testing.T) {
	testutil.Long(t)
	parallel(t)
	const receipts = 4
	s := site{operator: newSMSC(t), clients: soon + ", window: 4", memory: true}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	var known []string
	for n := 1; n <= receipts; n++ {
		known = append(known, client.submitted(smsc, n, fmt.Sprint(500+n)))
	}
	smsc.fence()
	client.conn.Close()
	g.online("clients", 0)
	for n := 1; n <= receipts; n++ {
		smsc.receipt(100+n, fmt.Sprint(500+n), "DELIVRD")
	}
	for range 1000 {
		client = g.bind("receiver")
		client.want("deliver_sm")
		client.conn.Close()
	}
	client = g.bind("receiver")
	for range receipts {
		line := client.want("deliver_sm")
		client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		i := slices.IndexFunc(known, func(id string) bool { return strings.Contains(line, "id:"+id+" ") })
		if i < 0 {
			t.Fatalf("want a receipt of one of %s, got %s", known, line)
		}
		known = slices.Delete(known, i, i+1)
	}
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.log.count("") - g.log.count(`"level":"debug"`); n > 100 {
		t.Errorf("%d lines are logged that are not for debugging", n)
	}
}

// A client that is busy gets its receipt when it is not busy any more, however often it has
// refused it, also behind a restart. One that it refuses for good ends. The log has an entry
// of a minute about that.
func TestReceiptsOfBusyClient(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), clients: soon, store: vfs.NewCrashableMem()}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.submitted(smsc, 1, "55")
	smsc.fence()
	smsc.receipt(101, "55", "DELIVRD")
	refuse := func(status string) {
		t.Helper()
		client.send("deliver_sm_resp seq=" + field(client.want("deliver_sm"), "seq") + " status=" + status)
	}
	busy := []string{"0x58", "0x14", "0x08", "0x64", "0xff"} // throttled, queue full, system error, temporary, unknown
	for n := range 20 {
		refuse(busy[n%len(busy)])
	}
	testutil.Eventually(t, "it waits again", func() bool { return g.stats("clients").Retried.Load() == 20 && g.synced() })
	if n := g.log.count("not take"); n > 2 {
		t.Errorf("%d entries about a busy client", n)
	}
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	for range 10 {
		refuse("0x14")
	}
	client.wantReceipt(known, "DELIVRD")
	client.submitted(smsc, 2, "56")
	smsc.fence()
	smsc.receipt(102, "56", "DELIVRD")
	refuse("0x65") // permanent
	testutil.Eventually(t, "it is given up", func() bool { return g.Pending() == 0 })
	if n := g.stats("clients").Failed.Load(); n != 1 {
		t.Errorf("%d messages were given up", n)
	}
}
