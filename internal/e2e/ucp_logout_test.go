package e2e

import (
	"testing"

	"pmg/internal/testutil"
)

// A session of UCP that had no message for idle_max ends without a PDU. That is our logout,
// and not a lost session.
func TestUCPIdle(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, clients: "protocol: ucp", out: "protocol: ucp, static: false, idle_max: 1s",
	})
	client := g.ucpClient()
	for range 2 {
		client.send(`op51 seq=1 AdC=0046700000001 OAdC=1234 MT=3 AMsg="hello"`)
		client.want("op51_result seq=1 status=0 SM=*")
		centre := operator.ucpSession()
		line := centre.want(`op51 seq=* AdC=0046700000001 OAdC=1234 MT=3 AMsg="hello"`)
		centre.send("op51_result seq=" + field(line, "seq") + " status=0")
		if line, err := centre.next(); err == nil {
			t.Fatalf("want the end, got %s", line)
		}
		g.online("operator", 0)
	}
	testutil.Eventually(t, "both ends are logged", func() bool { return g.log.count(`"session over"`, `"operator"`) == 2 })
	if n := g.log.count("session lost"); n != 0 {
		t.Errorf("%d sessions are called lost", n)
	}
}
