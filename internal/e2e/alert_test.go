package e2e

import (
	"strings"
	"testing"
)

// What an SMSC says of a mobile that is available again is counted and logged, and reaches no client.
func TestAlert(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), routes: "{from: operator, to: {account: acme}}\n{to: operator}"}
	g := start(t, s)
	smsc := s.operator.session()
	client := g.bind("transceiver")
	for range 2 {
		smsc.send("alert_notification seq=1 source_addr=46700000001 esme_addr=7212 ms_availability_status=0")
	}
	smsc.fence()
	client.fence()
	if !client.silent("alert_notification") {
		t.Error("a client is told")
	}
	if n := strings.Count(g.log.String(), "alert of a mobile dropped"); n != 1 {
		t.Errorf("the log tells %d times", n)
	}
}
