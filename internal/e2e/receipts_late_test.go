package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/store"
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

// A later part with the same reference, but long after the first one of a message with a keyword, is
// another message's: it does not follow that one, over a restart either.
func TestKeywordOfAnotherMessage(t *testing.T) {
	parallel(t)
	s := keywordSite(site{operator: newSMSC(t), store: vfs.NewCrashableMem()})
	g := start(t, s)
	smsc := s.operator.session()
	smsc.send(votePart(101, 4670, 7, 1, 2, "VOTE one"))
	smsc.want("deliver_sm_resp", "seq=101", "status=0")
	s.wall = 2 * time.Hour
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	other := g.dial("clients")
	other.bind("receiver", "other", "s3cret")
	other.wantText("VOTE one")
	smsc.send(votePart(101, 4670, 7, 2, 2, "of another"))
	smsc.want("deliver_sm_resp", "seq=101", "status=0x14(ESME_RMSGQFUL)")
	other.fence()
	if !other.silent("deliver_sm") {
		t.Error("the part has followed a message of hours before")
	}
}

// The receipt of a message that was joined of several is refused whole while the client's queue has
// no room, and becomes one for each when the SMSC sends it again.
func TestJoinedReceiptsWithoutRoom(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, out: "long_messages: join", clients: "max_queue: 1"}
	g := start(t, s)
	client, smsc := g.bind("transmitter"), s.operator.session()
	known := client.submitted(smsc, 1, "A1")
	l := longs()[0]
	parts := l.parts(1)
	for i := range parts {
		parts[i] = strings.Replace(parts[i], "data_coding", "registered_delivery=1 data_coding", 1)
	}
	ids := client.submitAll(10, parts...)
	smsc.send("submit_sm_resp seq=" + field(smsc.want("submit_sm"), "seq") + " status=0 message_id=B2")
	smsc.fence()
	smsc.receipt(101, "A1", "DELIVRD")
	testutil.Eventually(t, "it waits", func() bool { return g.Pending() == 1 })
	smsc.send(smscReceipt(102, "B2", "DELIVRD"))
	smsc.want("deliver_sm_resp", "seq=102", "status=0x14(ESME_RMSGQFUL)")
	receiver := g.bind("receiver")
	receiver.wantReceipt(known, "DELIVRD")
	testutil.Eventually(t, "there is room", func() bool { return g.Pending() == 0 })
	smsc.receipt(103, "B2", "DELIVRD")
	got := map[string]bool{}
	for range ids {
		line := receiver.want("deliver_sm")
		got[field(strings.ReplaceAll(line, `"`, " "), "receipted_message_id")] = true
		for _, id := range ids {
			if strings.Contains(line, "id:"+id+" ") {
				got[id] = true
			}
		}
		receiver.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	for _, id := range ids {
		if !got[id] {
			t.Errorf("no receipt of %s", id)
		}
	}
}

// A receipt of a part that came before its answer completes a long message of which the other part
// was delivered before a restart.
func TestPartOvertakesAfterRestart(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "long_messages: split8, window: 1"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.longSubmit(2, 300, asks)
	smsc.send("submit_sm_resp seq=" + field(smsc.want("submit_sm"), "seq") + " status=0 message_id=A1")
	smsc.want("submit_sm")
	smsc.receipt(101, "A1", "DELIVRD")
	if err := g.Gateway.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	again := field(smsc.want("submit_sm"), "seq")
	smsc.receipt(101, "A2", "DELIVRD")
	g.wantStored(operate.StateQueued, operate.StateOrphan)
	smsc.send("submit_sm_resp seq=" + again + " status=0 message_id=A2")
	if line := client.wantReceipt(known, "DELIVRD"); !strings.Contains(line, "sub:002 dlvrd:002") {
		t.Error(line)
	}
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("the client is told more")
	}
}

// An operator who has put the options right has receipts tried again whose messages were not found.
func TestRetryOrphan(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		known := client.submitted(smsc, 1, "A1")
		smsc.fence()
		smsc.send(strings.Replace(smscReceipt(101, "A1", "DELIVRD"), "46700000001", "990", 1))
		smsc.want("deliver_sm_resp", "seq=101", "status=0")
		g.wantStored(operate.StateOrphan)
		g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultUnknown)
		s.out = "receipt_match: id"
		if err := g.reload(s); err != nil {
			t.Fatal(err)
		}
		// The gateway looks again itself after it has kept a receipt. That may come behind the reload, and
		// before the operator, who then has nothing to do.
		g.change(operate.RetryMessages, "", operate.Selection{})
		client.wantReceipt(known, "DELIVRD")
		g.wantStored()
		if n := g.Receipts.Counts.Adopted.Load(); n != 1 || g.Gateway.Keeper.Aside(store.Orphan) != 0 {
			t.Errorf("%d receipts were adopted, %d are kept", n, g.Gateway.Keeper.Aside(store.Orphan))
		}
	})
}
