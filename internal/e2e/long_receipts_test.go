package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"pmg/store"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
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

// ACCEPTD does not end a message: the client gets a receipt of it, and of what follows, whether the
// message is whole or in parts.
func TestAccepted(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "long_messages: split8"
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		whole := client.submitted(smsc, 2, "A")
		smsc.fence()
		smsc.receipt(101, "A", "ACCEPTD")
		client.wantReceipt(whole, "ACCEPTD")
		client.send("query_sm seq=7 message_id=" + whole + " source_addr=1234")
		query := smsc.want("query_sm", "message_id=A")
		smsc.send(fmt.Sprintf("query_sm_resp seq=%s status=0 message_id=A message_state=1", field(query, "seq")))
		client.want("query_sm_resp", "seq=7", "message_state=1") // it has not ended
		smsc.receipt(102, "A", "UNDELIV")
		client.wantReceipt(whole, "UNDELIV")
		long := client.submittedLong(smsc, 3, 2, "B", asks)
		smsc.receipt(103, "B1", "ACCEPTD")
		smsc.receipt(104, "B2", "ACCEPTD")
		client.wantReceipt(long, "ACCEPTD")
		smsc.receipt(105, "B1", "DELIVRD")
		smsc.receipt(106, "B2", "DELIVRD")
		client.wantReceipt(long, "DELIVRD")
		client.fence()
		if !client.silent("deliver_sm") {
			t.Error("the client is told more")
		}
	})
}

// Words of a message on its way go to clients that asked for progress. Unknown words go to all, as
// they are. Neither ends the message.
func TestOtherWords(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, out: "receipt_states: [{word: PARKED, is: rejected}]"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.submitted(smsc, 2, "A")
	smsc.fence()
	smsc.receipt(101, "A", "QUEUED")
	smsc.receipt(102, "A", "BUFFRED")
	smsc.receipt(103, "A", "READ")
	if line := client.wantReceipt(known, "READ"); !strings.Contains(line, "message_state=1") {
		t.Error(line)
	}
	smsc.receipt(104, "A", "PARKED")
	if line := client.wantReceipt(known, "REJECTD"); !strings.Contains(line, "message_state=8") {
		t.Error(line)
	}
}

// A part of which nothing is heard has its time, also over a restart.
func TestPartIsNotHeardOf(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "long_messages: split8"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.submittedLong(smsc, 2, 2, "A", asks)
	smsc.receipt(101, "A1", "DELIVRD")
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("the client is told at once")
	}
	s.wall = 25 * time.Hour
	g = g.powerCut(&s, client, smsc)
	client = g.bind("transceiver")
	if line := client.wantReceipt(known, "UNKNOWN"); !strings.Contains(line, "sub:002 dlvrd:001") {
		t.Error(line)
	}
	smsc = s.operator.session()
	smsc.receipt(102, "A2", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
}

// A long message of which a part was delivered before a restart, and the SMSC refuses another behind
// it, has one receipt.
func TestRefusedPartAfterRestart(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "long_messages: split8, window: 1, retry: {temporary: [1h]}"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	client.send(`submit_sm seq=2 source_addr=1234 destination_addr=46700000001 registered_delivery=1 message_payload="` + strings.Repeat("A", 200) + `"`)
	known := field(client.want("submit_sm_resp", "seq=2", "status=0"), "message_id")
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A1", field(smsc.want("submit_sm"), "seq")))
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0x8", field(smsc.want("submit_sm"), "seq")))
	testutil.Eventually(t, "it waits to be sent again", func() bool { return g.stats("operator").Retried.Load() == 1 && g.synced() })
	smsc.receipt(101, "A1", "DELIVRD")
	s.wall = 2 * time.Hour
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0xb", field(smsc.want("submit_sm"), "seq")))
	if line := client.wantReceipt(known, "REJECTD"); !strings.Contains(line, "sub:002 dlvrd:001") {
		t.Error(line)
	}
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("the client is told more")
	}
}

// Receipts of parts that come before the answers to these are kept, and become the one of the
// message when the answers have come.
func TestPartsOvertake(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "long_messages: split8"
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		known := client.longSubmit(2, 300, asks)
		answers := make([]string, 2)
		for i := range answers {
			answers[i] = fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A%d", field(smsc.want("submit_sm"), "seq"), i+1)
		}
		smsc.send(smscReceipt(101, "A1", "DELIVRD"), smscReceipt(102, "A2", "DELIVRD"))
		for range 2 {
			smsc.want("deliver_sm_resp", "status=0")
		}
		testutil.Eventually(t, "they are kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 2 })
		smsc.send(answers...)
		if line := client.wantReceipt(known, "DELIVRD"); !strings.Contains(line, "sub:002 dlvrd:002") {
			t.Error(line)
		}
		testutil.Eventually(t, "none is kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 0 })
		client.fence()
		if !client.silent("deliver_sm") {
			t.Error("the client is told more")
		}
	})
}
