package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"strings"
	"testing"
)

// A long message of which a part has left, or is under way, is not cancelled: nothing of it is
// deleted. One of which none has left is cancelled whole, and has one receipt.
func TestCancelLong(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "long_messages: split8, window: 1"
		g := start(t, s)
		c, r, smsc := g.bind("transmitter"), g.bind("receiver"), s.operator.session()
		g.online("operator", 1)
		submit := func(seq int, dest string, n int) string {
			c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=%s registered_delivery=1 message_payload="%s"`, seq, dest, strings.Repeat("A", 153*n)))
			return field(c.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
		}
		accept := func(line string) { smsc.answer(0, field(line, "seq")) }
		one := submit(2, "46700000001", 3)
		first := smsc.want("submit_sm", "destination_addr=46700000001")
		two := submit(3, "46700000002", 3)
		submit(4, "46700000003", 2)
		c.ask("cancel_sm seq=10 message_id="+one+" source_addr=1234", cancelFail) // a part is under way
		c.ask("cancel_sm seq=11 source_addr=1234 destination_addr=46700000001", cancelFail)
		accept(first)
		second := smsc.want("submit_sm", "destination_addr=46700000001")
		c.ask("cancel_sm seq=12 message_id="+one+" source_addr=1234", cancelFail) // a part has left
		c.ask("cancel_sm seq=13 message_id="+two+" source_addr=1234", "status=0")
		receipt := r.want("deliver_sm", "source_addr=46700000002")
		if !containsAll(receipt, []string{"id:" + two, "sub:003 dlvrd:000", "stat:DELETED"}) {
			t.Error(receipt)
		}
		c.ask("cancel_sm seq=14 source_addr=1234 destination_addr=46700000003", "status=0")
		if receipt = r.want("deliver_sm", "source_addr=46700000003"); !containsAll(receipt, []string{"sub:002 dlvrd:000", "stat:DELETED"}) {
			t.Error(receipt)
		}
		accept(second)
		accept(smsc.want("submit_sm", "destination_addr=46700000001")) // what was not cancelled leaves
		smsc.fence()
		testutil.Eventually(t, "all have ended", func() bool { return g.stats("operator").Sent.Load() == 3 && g.stats("operator").Cancelled.Load() == 5 })
		r.fence()
		if !r.silent("deliver_sm") {
			t.Error("the client is told more")
		}
	})
}
