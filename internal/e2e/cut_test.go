package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// longSubmit submits a text of n letters, and returns the id of the message.
func (p *peer) longSubmit(seq, n int, more string) string {
	p.t.Helper()
	p.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s message_payload="%s"`, seq, more, strings.Repeat("A", n)))
	return field(p.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
}

// The parts of a text that was cut are in the store in its place, and so is what the client wants
// to hear of them. What waits in the store when the options change is cut as well.
func TestCutAfterRestart(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "window: 1"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.longSubmit(2, 400, asks)
	smsc.want("submit_sm")
	testutil.Eventually(t, "it is stored", func() bool { return g.synced() })
	s.out += ", long_messages: split16"
	g = g.powerCut(&s, client, smsc)
	smsc = s.operator.session()
	line := smsc.want("submit_sm", "esm_class=64")
	if !strings.HasPrefix(field(line, "short_message"), `"\x06\x08\x04`) {
		t.Error(line)
	}
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A1", field(line, "seq")))
	smsc.want("submit_sm", "esm_class=64")
	smsc.fence()
	smsc.receipt(101, "A1", "DELIVRD")
	testutil.Eventually(t, "the first part is forgotten", func() bool { return g.Pending() == 2 && g.synced() })
	g = g.powerCut(&s, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	for part := 2; part <= 3; part++ {
		line := smsc.want("submit_sm", "esm_class=64")
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A%d", field(line, "seq"), part))
	}
	smsc.fence()
	smsc.receipt(102, "A2", "DELIVRD")
	smsc.receipt(103, "A3", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
	smsc.fence()
	client.fence()
	if !client.silent("deliver_sm") || !smsc.silent("submit_sm") {
		t.Error("something came twice")
	}
}
