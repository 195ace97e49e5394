package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// By default a UCP connector splits long texts: most SMSCs refuse or cut an operation 51 that is
// longer than a short message. It sends one at a time.
func TestUCPDefaults(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "protocol: ucp"})
	smsc := operator.ucpSession()
	client := g.bind("transmitter")
	client.send(fmt.Sprintf(`submit_sm seq=2 source_addr=1234 destination_addr=4670 message_payload="%s"`, strings.Repeat("x", 300)))
	client.accepted(2, 2)
	for part, n := range []int{153, 147} {
		line := smsc.want(`op51 seq=* AdC=4670 OAdC=1234 MT=3 AMsg="` + strings.Repeat("x", n) + `" XSer=*`)
		if !strings.HasSuffix(strings.TrimSpace(line), fmt.Sprintf("020%d", part+1)) {
			t.Errorf("part %d: %s", part+1, line)
		}
		equal(t, "are under way", g.stats("operator").InFlight.Load(), 1)
		smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=4670:01012600000" + fmt.Sprint(part))
	}
	testutil.Eventually(t, "all is sent", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
}

// What UCP cannot write at all is refused when it comes: a recipient that is no number, and a text
// that is longer than an operation has room for and is not split.
func TestUCPCannotWrite(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "protocol: ucp, long_messages: pass"})
	smsc := operator.ucpSession()
	client := g.bind("transmitter")
	for n, dest := range []string{"46/70", "4x", `46\x0270`, "12345678901234567"} {
		client.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr="%s" short_message="x"`, n+2, dest))
		client.want("submit_sm_resp", fmt.Sprint("seq=", n+2), "status=0xb(ESME_RINVDSTADR)")
	}
	client.send(fmt.Sprintf(`submit_sm seq=6 source_addr=1234 destination_addr=4670 message_payload="%s"`, strings.Repeat("x", 641)))
	client.want("submit_sm_resp", "seq=6", "status=0x1(ESME_RINVMSGLEN)")
	client.send(fmt.Sprintf(`submit_sm seq=7 source_addr=1234 destination_addr=4670 message_payload="%s"`, strings.Repeat("y", 640)))
	client.accepted(7, 7)
	line := smsc.want(`op51 seq=* AdC=4670 OAdC=1234 MT=3 AMsg="` + strings.Repeat("y", 640) + `"`)
	smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=4670:010126000000")
	testutil.Eventually(t, "all is sent", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
}

// A message that comes to a UCP connector later, and that UCP cannot write, is given up without
// being sent.
func TestUCPCannotWriteLater(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	one.down()
	two.down()
	g := start(t, site{
		more:   row("one", one, "failover_after: 100ms") + row("two", two, "protocol: ucp, password: secret, failover_after: 1h"),
		routes: "{to: [one, two]}",
	})
	client := g.bind("transmitter")
	client.send(`submit_sm seq=2 source_addr=1234 destination_addr=4x short_message="x"`, submitLine(3))
	client.accepted(2, 3)
	two.up()
	smsc := two.ucpSession()
	line := smsc.want(`op51 seq=* AdC=46700000001 OAdC=1234 MT=3 AMsg="3"`)
	smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=46700000001:010126000000")
	testutil.Eventually(t, "all is over", func() bool {
		return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 && g.stats("two").Sent.Load() == 1 && g.stats("two").Failed.Load() == 1
	})
	if n := g.log.count("message given up", "rejected"); n != 1 {
		t.Errorf("%d lines say that a message was rejected", n)
	}
}
