package e2e

import (
	"fmt"
	"pmg/gateway/operate"
	"strings"
	"testing"
)

// P7, O4: receipts of a client that does not take them wait beyond max_queue where they wait on
// disk, and others' receipts, which come on the same session, are not held up. What is beyond
// max_deliveries is refused, and the operator is warned before.
func TestReceiptsOfAClientThatIsAway(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.clients = "max_queue: 3, max_deliveries: 6"
		g := start(t, s)
		away, smsc := g.bind("transmitter"), s.operator.session()
		other := g.dial("clients")
		other.bind("transceiver", "other", "s3cret")
		var known []string
		for i := range 8 {
			known = append(known, away.submitted(smsc, i+1, fmt.Sprintf("away%d", i)))
		}
		others := other.submitted(smsc, 1, "other1")
		smsc.fence()
		room := 6
		if s.memory {
			room = 3
		}
		for i := range 8 {
			status := "status=0"
			if i >= room {
				status = "status=0x14(ESME_RMSGQFUL)"
			}
			smsc.send(smscReceipt(100+i, fmt.Sprintf("away%d", i), "DELIVRD"))
			smsc.want("deliver_sm_resp", fmt.Sprint("seq=", 100+i), status)
		}
		if g.log.count("nearly as many receipts and messages wait for the account as may") != 1 {
			t.Error("the operator is not warned")
		}
		smsc.receipt(200, "other1", "DELIVRD")
		other.wantReceipt(others, "DELIVRD")
		back := g.dial("clients")
		back.bind("receiver", "acme", "s3cret")
		for i := range room {
			back.wantReceipt(known[i], "DELIVRD")
		}
		g.settled()
	})
}

// D18: an account may have max_parked messages parked, over a restart too. Other accounts' are not
// counted with them, and there is room again when an operator has decided.
func TestMaxParked(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.accounts = "{system_id: some, password: s3cret, max_parked: 2}"
		s.top, s.routes = "no_route: park\n", "{to: operator, destination: 99}"
		const submit, full = "submit_sm seq=2 source_addr=1234 destination_addr=47 short_message=\"x\"", "status=0x14(ESME_RMSGQFUL)"
		s.operator.down()
		g := start(t, s)
		some := g.dial("clients")
		some.bind("transmitter", "some", "s3cret")
		some.send("submit_multi seq=2 source_addr=1234 number_of_dests=3" + strings.Repeat(" dest_flag=1 destination_addr=47", 3) + " short_message=\"x\"")
		some.want("submit_multi_resp", "status=0", "no_unsuccess=1", "error_status_code=0x14(ESME_RMSGQFUL)")
		other := g.bind("transmitter")
		other.send(submit)
		other.want("submit_sm_resp", "status=0")
		if !s.memory {
			some.conn.Close()
			other.conn.Close()
			g.stop()
			g = start(t, s)
			g.wantStored(operate.StateParked, operate.StateParked, operate.StateParked)
			some = g.dial("clients")
			some.bind("transmitter", "some", "s3cret")
		}
		some.send(submit)
		some.want("submit_sm_resp", full)
		done := operate.ResultDeleted
		g.wantChange(operate.DeleteMessages, "", operate.Selection{Account: "some"}, done, done)
		some.send(submit)
		some.want("submit_sm_resp", "status=0")
	})
}
