package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// A UCP connector splits long texts unless it is told otherwise: an operation 51 that is longer
// than a short message is refused or cut by most SMSCs. It sends one at a time.
func TestUCPDefaults(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "protocol: ucp"})
	centre := operator.ucpSession()
	client := g.bind("transmitter")
	client.send(fmt.Sprintf(`submit_sm seq=2 source_addr=1234 destination_addr=4670 message_payload="%s"`, strings.Repeat("x", 300)))
	client.accepted(2, 2)
	for part, n := range []int{153, 147} {
		line := centre.want(`op51 seq=* AdC=4670 OAdC=1234 MT=3 AMsg="` + strings.Repeat("x", n) + `" XSer=*`)
		if !strings.HasSuffix(strings.TrimSpace(line), fmt.Sprintf("020%d", part+1)) {
			t.Errorf("part %d: %s", part+1, line)
		}
		equal(t, "are under way", g.stats("operator").InFlight.Load(), 1)
		centre.send("op51_result seq=" + field(line, "seq") + " status=0 SM=4670:01012600000" + fmt.Sprint(part))
	}
	testutil.Eventually(t, "all is sent", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
}
