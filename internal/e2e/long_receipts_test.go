package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A client that wants to hear of failures alone hears of a long message of which a part has
// failed, whatever becomes of the others.
func TestFailureOfAPart(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "long_messages: split8"
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		good := client.submittedLong(smsc, 2, 2, "A", "registered_delivery=2")
		bad := client.submittedLong(smsc, 3, 3, "B", "registered_delivery=2")
		if good == bad {
			t.Fatal(good)
		}
		smsc.receipt(101, "A1", "DELIVRD")
		smsc.receipt(102, "A2", "DELIVRD")
		smsc.receipt(103, "B3", "UNDELIV")
		if line := client.wantReceipt(bad, "UNDELIV"); !strings.Contains(line, "sub:003 dlvrd:000") {
			t.Error(line)
		}
		smsc.receipt(104, "B1", "EXPIRED")
		smsc.receipt(105, "B2", "DELIVRD")
		client.fence()
		if !client.silent("deliver_sm") {
			t.Error("the client is told of more than the one failure")
		}
	})
}

// submittedLong submits a text of n parts, has the SMSC accept them as <id>1, <id>2, …, and returns the
// id that the client knows. The SMSC is asked for what became of every part.
func (p *peer) submittedLong(smsc *peer, seq, n int, id string, more ...string) (known string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s message_payload="%s"`, seq, strings.Join(more, " "), strings.Repeat("A", 153*n)))
	known = field(p.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
	for part := 1; part <= n; part++ {
		line := smsc.want("submit_sm", "esm_class=64", "registered_delivery=1")
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%s%d", field(line, "seq"), id, part))
	}
	smsc.fence()
	return known
}
