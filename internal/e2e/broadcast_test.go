package e2e

import "testing"

// A client's broadcast is refused, and so are operations about broadcasts. The session goes on.
func TestBroadcastRefused(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), clients: "version: 5.0"})
	c := g.bindFive()
	c.ask(`broadcast_sm seq=2 source_addr=1234 broadcast_area_identifier="\x00North" broadcast_content_type="\x01\x00\x10" `+
		`broadcast_rep_num=1 broadcast_frequency_interval="\x08\x00\x05"`, "status=0x10d(ESME_RBCASTFAIL)")
	c.ask("query_broadcast_sm seq=3 message_id=0000000000000001 source_addr=1234", "status=0x10e(ESME_RBCASTQUERYFAIL)")
	c.ask("cancel_broadcast_sm seq=4 message_id=0000000000000001 source_addr=1234", "status=0x10f(ESME_RBCASTCANCELFAIL)")
	c.submitOne(5)
	if n := g.stats("clients").Accepted.Load(); n != 1 {
		t.Errorf("%d messages were accepted", n)
	}
}
