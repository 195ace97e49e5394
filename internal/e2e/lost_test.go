package e2e

import (
	"fmt"
	"maps"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A submit with fields that UCP lacks, and one that it has another place for.
const lossy = `submit_sm seq=%d service_type=WAP source_addr=1234 destination_addr=46700000001 short_message="%d"` +
	` sar_msg_ref_num=1 sar_total_segments=2 sar_segment_seqnum=1 user_message_reference=7`

// What UCP lacks of a client's message is counted each time, and logged once. The rest
// arrives, however the message came to the connector.
func TestLostFields(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "protocol: ucp"})
	smsc := operator.ucpSession()
	client := g.bind("transmitter")
	for n := 2; n <= 4; n++ {
		client.send(fmt.Sprintf(lossy, n, n))
		line := smsc.want(fmt.Sprintf(`op51 seq=* AdC=46700000001 OAdC=1234 MT=3 AMsg="%d" XSer=0106050003010201`, n))
		smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=46700000001:010126000000")
		client.accepted(n, n)
	}
	client.send(submitLine(5))
	client.accepted(5, 5)
	line := smsc.want(`op51 seq=* AdC=46700000001 OAdC=1234 MT=3 AMsg="5"`)
	smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=46700000001:010126000001")
	want := map[string]int64{"service_type": 3, "user_message_reference": 3}
	if got := g.stats("operator").FieldsLost.Counts(); !maps.Equal(got, want) {
		t.Errorf("lost %v, want %v", got, want)
	}
	for name := range want {
		if n := g.log.count("has lost a field", `"field":"`+name+`"`, `"connector":"operator"`); n != 1 {
			t.Errorf("%d lines about %s", n, name)
		}
	}
	testutil.Eventually(t, "all is sent", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
}

// A message moves to another connector, because its own is down. It is sent there as if it had been
// accepted for that one.
func TestLostAfterFailover(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	one.down()
	two.down()
	g := start(t, site{
		more:   row("one", one, "failover_after: 100ms") + row("two", two, "protocol: ucp, password: secret, failover_after: 1h"),
		routes: "{to: [one, two]}",
	})
	client := g.bind("transmitter")
	client.send(submitLine(2), fmt.Sprintf(lossy, 3, 3), submitLine(4))
	client.accepted(2, 4)
	two.up()
	smsc := two.ucpSession()
	for n := 2; n <= 4; n++ {
		more := ""
		if n == 3 {
			more = " XSer=0106050003010201"
		}
		line := smsc.want(fmt.Sprintf(`op51 seq=* AdC=46700000001 OAdC=1234 MT=3 AMsg="%d"`, n) + more)
		smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=46700000001:010126000000")
	}
	testutil.Eventually(t, "all is over", func() bool {
		return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 && g.stats("two").Sent.Load() == 3
	})
}
