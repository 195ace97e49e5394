package e2e

import (
	"fmt"
	"testing"
)

// What an SMSC says of a mobile that is available again goes to a session of the account that
// a message of the mobile would go to, with its optional parameters, and nothing answers it.
// A client of SMPP 3.3 is not told.
func TestAlert(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		s := site{operator: newSMSC(t), accounts: "{system_id: other, password: s3cret}",
			routes: "{from: operator, destination: \"72\", to: {account: acme}}\n{to: operator}"}
		g := start(t, a, s)
		smsc := s.operator.session()
		old, other := g.dial("clients"), g.dial("clients")
		old.send("bind_receiver seq=1 system_id=acme password=s3cret interface_version=0x33")
		old.want("bind_receiver_resp", "status=0")
		other.bind("receiver", "other", "s3cret")
		client := g.bind("transceiver")
		g.online("clients", 3)
		for n := range 3 {
			smsc.send(fmt.Sprintf("alert_notification seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=4670000000%d esme_addr=7212 ms_availability_status=0", n+1, n))
			client.want("alert_notification", "source_addr_ton=1", "source_addr_npi=1", fmt.Sprintf("source_addr=4670000000%d", n), "esme_addr=7212", "ms_availability_status=0")
		}
		smsc.send("alert_notification seq=9 source_addr=46700000009 esme_addr=99") // no route
		smsc.fence()
		for _, p := range []*peer{old, client, other} {
			p.fence()
			if !p.silent("alert_notification") {
				t.Error("an alert for another session")
			}
		}
	})
}
