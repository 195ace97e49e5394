package e2e

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// What the id of a copy stands for outlives the gateway, although the message had ended by the late answer
// to the request before when the copy was answered in time.
func TestReceiptOfCopyAfterRestart(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "response_timeout: 300ms, enquire_interval: 0s, retry: [10ms, repeat]"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.submitOne(1, asks)
	first, second := field(smsc.want("submit_sm"), "seq"), field(smsc.want("submit_sm"), "seq")
	smsc.send("submit_sm_resp seq="+first+" status=0 message_id=B1", "submit_sm_resp seq="+second+" status=0 message_id=B2")
	testutil.Eventually(t, "both copies have ended", func() bool { return g.Pending() == 0 })
	g.sync()
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	smsc.receipt(101, "B2", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
}
