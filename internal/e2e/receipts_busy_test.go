package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testutil"
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
