package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
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

// A text that goes to another SMSC, because the first one cannot take it or is down, is cut into
// parts if that one wants them. The client gets one receipt, with the id that it knows.
func TestFailoverCuts(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		reserve := newSMSC(t)
		s.out = "failover_attempts: 1, retry: [50ms]"
		s.more = fmt.Sprintf("{name: reserve, direction: out, address: %q, system_id: pmg, password: secret, long_messages: split8}", reserve.addr())
		s.routes = "{to: [operator, reserve]}"
		g := start(t, s)
		smsc, far, client := s.operator.session(), reserve.session(), g.bind("transceiver")
		g.online("operator", 1)
		g.online("reserve", 1)
		known := client.longSubmit(2, 400, asks)
		line := smsc.want("submit_sm")
		if !strings.Contains(line, `message_payload="`) {
			t.Error(line)
		}
		smsc.answer(0x8, field(line, "seq"))
		far.wantParts(400, "A")
		client.ask("query_sm seq=3 message_id="+known+" source_addr=1234", "message_state=1")
		for i, id := range []string{"A1", "A2", "A3"} {
			far.receipt(101+i, id, "DELIVRD")
		}
		if line := client.wantReceipt(known, "DELIVRD"); !strings.Contains(line, "sub:003 dlvrd:003") {
			t.Error(line)
		}
		client.ask("query_sm seq=4 message_id="+known+" source_addr=1234", "message_state=2")
		// One that asks for nothing, and one that is short.
		client.longSubmit(5, 400, "")
		smsc.answer(0x8, field(smsc.want("submit_sm"), "seq"))
		far.wantParts(400, "B")
		client.send(submitLine(6))
		client.want("submit_sm_resp", "seq=6", "status=0")
		smsc.answer(0x8, field(smsc.want("submit_sm"), "seq"))
		far.answer(0, field(far.want("submit_sm", `short_message="6"`), "seq"))
		far.fence()
		testutil.Eventually(t, "everything is counted", func() bool { return g.Pending() == 0 && g.stats("reserve").Sent.Load() == 7 })
		client.fence()
		if !client.silent("deliver_sm") || g.stats("reserve").Failed.Load() != 0 {
			t.Error("the client is told more")
		}
	})
}

// wantParts wants the parts of a text of n letters, each with a header, and answers them with <id>1,
// <id>2, …
func (p *peer) wantParts(n int, id string) {
	p.t.Helper()
	for part, left := 1, n; left > 0; part++ {
		line := p.want("submit_sm", "esm_class=64")
		length := min(left, 153)
		if !strings.HasSuffix(strings.TrimSpace(line), fmt.Sprintf(`\x%02x\x%02x`, (n+152)/153, part)+strings.Repeat("A", length)+`"`) {
			p.t.Fatalf("part %d is %s", part, line)
		}
		left -= length
		p.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%s%d", field(line, "seq"), id, part))
	}
	p.fence()
}
