package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pmg/gateway/operate"
	"pmg/internal/testutil"
)

// A2: an account whose SMSC is down, and that sends it large messages, keeps no other account out:
// on disk there is room for them, and in memory the account has its part of it. The honest
// account's messages are all accepted and sent.
func TestLargeMessagesBesideOthers(t *testing.T) {
	testutil.Long(t)
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.accounts = "{system_id: large, password: s3cret}"
		s.limits, s.silent = "memory: 64MiB", true // of which messages have half
		s.more = downRow(t, "dead", "queue_wait: 0s")
		s.routes = "{account: large, to: dead}\n{to: operator}"
		const submit = "submit_sm seq=2 source_addr=1234 destination_addr=46700000001 "
		g := start(t, s)
		smsc := s.operator.session()
		large := dial(t, g.addr("clients"))
		large.bind("transmitter", "large", "s3cret")
		const many = 600 // 36 MB
		text, accepted := strings.Repeat("x", 60_000), 0
		for first, b := 0, wire(t, submit+fmt.Sprintf("message_payload=%q", text)); first < many; first += 20 {
			large.write(bytes.Repeat(b, 20))
			for range 20 {
				if strings.Contains(large.want("submit_sm_resp"), "status=0 ") {
					accepted++
				}
			}
		}
		if s.memory && accepted > many/2 || !s.memory && accepted != many {
			t.Errorf("%d large messages are accepted", accepted)
		}
		honest := g.bind("transmitter")
		for range 50 {
			honest.send(submit + fmt.Sprintf("message_payload=%q", text[:20_000]))
			honest.want("submit_sm_resp", "status=0")
			smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
		}
	})
}

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

// T5: of a PDU with two recipients one may be parked, where the other is stored nowhere but in memory.
func TestOneIsParked(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.top, s.routes = "no_route: park\n", "{to: operator, destination: 99}"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		c.send("submit_multi seq=2 source_addr=1234 number_of_dests=2 dest_flag=1 destination_addr=991 dest_flag=1 destination_addr=47 short_message=\"x\"")
		c.want("submit_multi_resp", "status=0")
		smsc.answer(0, field(smsc.want("submit_sm", "destination_addr=991"), "seq"))
		g.settled()
		g.wantStored(operate.StateParked)
	})
}
