package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// asks makes a submit ask for receipts of both outcomes.
const asks = "registered_delivery=1"

// smscReceipt returns a receipt of an SMSC for the message to which submitLine's are.
func smscReceipt(seq int, id, stat string, more ...string) string {
	return fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:%s sub:001 dlvrd:001 submit date:2511220102 done date:3511220103 stat:%s err:000 text:x" %s`,
		seq, id, stat, strings.Join(more, " "))
}

// receipt sends a receipt, and wants it accepted.
func (p *peer) receipt(seq int, id, stat string, more ...string) {
	p.t.Helper()
	p.send(smscReceipt(seq, id, stat, more...))
	p.want("deliver_sm_resp", fmt.Sprint("seq=", seq), "status=0")
}

// submitted submits message n, which asks for receipts. The SMSC accepts it under an id. submitted
// returns the id that the client knows.
func (p *peer) submitted(smsc *peer, n int, id string, more ...string) (known string) {
	p.t.Helper()
	known = p.submitOne(n, append(more, asks)...)
	line := smsc.want("submit_sm", asks, fmt.Sprintf("short_message=\"%d\"", n))
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%s", field(line, "seq"), id))
	return known
}

// wantReceipt wants a receipt of a message that the client knows by that id, and accepts it.
func (p *peer) wantReceipt(known, stat string) string {
	p.t.Helper()
	line := p.want("deliver_sm", "esm_class=4", "source_addr=46700000001", "destination_addr=1234")
	if !containsAll(line, []string{"short_message=\"id:" + known + " ", " stat:" + stat + " ", `receipted_message_id="` + known}) {
		p.t.Fatalf("want a receipt of %s with %s, got %s", known, stat, line)
	}
	p.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	return line
}

// A receipt goes back to the client that has submitted the message, with the id that the
// client knows, whatever letter case and zeros the SMSC writes the id with, without any route. The other account
// gets none.
func TestReceiptGoesBack(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		other := g.bindOther("transceiver")
		one := client.submitted(smsc, 1, "0A1B2C")
		smsc.fence()
		smsc.receipt(101, "0A1B2C", "DELIVRD")
		line := client.wantReceipt(one, "DELIVRD")
		if !strings.Contains(line, "submit date:2511220102 done date:3511220103") || !strings.Contains(line, "text:x") {
			t.Errorf("receipt %s", line)
		}
		two := client.submitted(smsc, 2, "a1b2c3")
		smsc.fence()
		smsc.receipt(102, "00A1B2C3", "UNDELIV")
		client.wantReceipt(two, "UNDELIV")
		three := client.submitted(smsc, 3, "5551234")
		smsc.fence()
		smsc.receipt(103, "05551234", "DELIVRD")
		client.wantReceipt(three, "DELIVRD")
		four := client.submitted(smsc, 4, "00ff")
		smsc.fence()
		smsc.receipt(104, "FF", "EXPIRED", "message_state=3", `receipted_message_id="00FF\x00"`, "tlv_0x1400=0102")
		if line := client.wantReceipt(four, "EXPIRED"); !strings.Contains(line, "tlv_0x1400=0102") {
			t.Errorf("the vendor's parameter is gone: %s", line)
		}
		client.fence()
		other.fence()
		if !other.silent("deliver_sm") || !client.silent("deliver_sm") {
			t.Error("a receipt that nobody waits for")
		}
		equal(t, "receipts matched", g.Receipts.Counts.Matched.Load(), 4)
	})
}

// A receipt that comes before the answer to its submit is kept, and goes on when the answer comes, also
// right behind it.
func TestReceiptOvertakes(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		take := func(n int) (known, seq string) {
			known = client.submitOne(n, asks)
			return known, field(smsc.want("submit_sm"), "seq")
		}
		one, seq := take(1)
		smsc.send(smscReceipt(101, "A7", "DELIVRD"), "submit_sm_resp seq="+seq+" status=0 message_id=A7")
		smsc.want("deliver_sm_resp", "seq=101", "status=0")
		client.wantReceipt(one, "DELIVRD")
		two, seq := take(2)
		smsc.receipt(102, "A8", "DELIVRD") // answered when it is kept
		testutil.Eventually(t, "it is kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 1 })
		smsc.send("submit_sm_resp seq=" + seq + " status=0 message_id=A8")
		client.wantReceipt(two, "DELIVRD")
		testutil.Eventually(t, "it is kept no more", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 0 })
		three := client.submitOne(3, "registered_delivery=17")
		seq = field(smsc.want("submit_sm"), "seq")
		smsc.receipt(103, "A9", "ENROUTE")
		smsc.receipt(104, "A9", "DELIVRD")
		testutil.Eventually(t, "both are kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 2 })
		smsc.send("submit_sm_resp seq=" + seq + " status=0 message_id=A9")
		line := client.want("deliver_sm", "stat:ENROUTE")
		client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		client.wantReceipt(three, "DELIVRD")
		testutil.Eventually(t, "none is kept any more", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 0 })
		if g.Receipts.Counts.Adopted.Load() < 1 {
			t.Error("none was adopted")
		}
	})
}

// A receipt may come over another session, and over another connector of the same operator;
// an operator of another name does not share ids.
func TestReceiptElsewhere(t *testing.T) {
	parallel(t)
	north, south, far := newSMSC(t), newSMSC(t), newSMSC(t)
	g := start(t, site{operator: north, out: "operator: telco, instances: 2", store: vfs.NewMem(),
		more: fmt.Sprintf("{name: south, direction: out, address: %q, system_id: pmg, password: secret, operator: telco}\n"+
			"{name: far, direction: out, address: %q, system_id: pmg, password: secret}", south.addr(), far.addr())})
	client, sessions := g.bind("transceiver"), []*peer{north.session(), north.session()}
	third, fourth := south.session(), far.session()
	g.online("operator", 2)
	take := func(n int) (known string, other *peer) {
		known = client.submitOne(n, asks)
		one, other := sessions[0], sessions[1]
		testutil.Eventually(t, "the message comes", func() bool {
			if one, other = other, one; one.silent("submit_sm") {
				return false
			}
			return true
		})
		one.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=50%d", field(one.want("submit_sm"), "seq"), n))
		one.fence()
		return known, other
	}
	known, other := take(1)
	other.receipt(101, "501", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
	known, _ = take(2)
	third.receipt(102, "502", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
	known, _ = take(3)
	fourth.receipt(103, "503", "UNDELIV")
	g.wantStored(operate.StateOrphan)
	third.send(strings.Replace(smscReceipt(104, "503", "DELIVRD"), "46700000001", "46700000009", 1)) // another number
	third.want("deliver_sm_resp", "seq=104", "status=0")
	g.wantStored(operate.StateOrphan, operate.StateOrphan)
	third.send(strings.Replace(smscReceipt(105, "503", "DELIVRD"), "46700000001", "0700000001", 1)) // the same, in national form
	line := client.want("deliver_sm", "source_addr=46700000001")
	if !containsAll(line, []string{known, "stat:DELIVRD"}) {
		t.Errorf("got %s", line)
	}
}

// What the gateway knows of messages outlives it: a receipt that comes after a power cut finds
// its client, one that came before waits for the client, and one whose message is not known
// is kept.
func TestReceiptAfterRestart(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem()}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	one, two := client.submitted(smsc, 1, "0abc"), client.submitted(smsc, 2, "0def")
	smsc.fence()
	client.conn.Close()
	testutil.Eventually(t, "no client is left", func() bool { return g.clients() == 0 })
	smsc.receipt(101, "0ABC", "DELIVRD")
	smsc.receipt(102, "99", "DELIVRD")
	testutil.Eventually(t, "that is stored", func() bool { return g.synced() })
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	smsc.receipt(103, "DEF", "DELIVRD")
	client = g.bind("receiver")
	client.wantReceipt(one, "DELIVRD")
	client.wantReceipt(two, "DELIVRD")
	g.wantStored(operate.StateOrphan)
}

// The client of one long message gets one receipt when all parts that the gateway has made of it
// have their final state. That holds over a power cut too, and for parts that an SMSC or the
// gateway ends.
func TestReceiptsOfParts(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "long_messages: split8", store: vfs.NewCrashableMem()}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	submit := func(seq int) (known string, parts []string) {
		t.Helper()
		client.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s message_payload=\"%s\"", seq, asks, strings.Repeat("x", 400)))
		known = field(client.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
		for range 3 {
			parts = append(parts, field(smsc.want("submit_sm", "esm_class=64", asks), "seq"))
		}
		return known, parts
	}
	accept := func(part, id string) { smsc.send("submit_sm_resp seq=" + part + " status=0 message_id=" + id) }
	known, parts := submit(2)
	for i, id := range []string{"70", "71", "72"} {
		accept(parts[i], id)
	}
	smsc.fence()
	smsc.receipt(101, "72", "DELIVRD")
	smsc.receipt(102, "70", "DELIVRD")
	client.wantNo("deliver_sm")
	g.settled()
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	smsc.receipt(103, "71", "DELIVRD")
	if line := client.wantReceipt(known, "DELIVRD"); !strings.Contains(line, "sub:003 dlvrd:003") {
		t.Errorf("receipt %s", line)
	}
	known, parts = submit(3)
	accept(parts[0], "80")
	smsc.answer(0x45, parts[1]) // ESME_RSUBMITFAIL
	if line := client.wantReceipt(known, "REJECTD"); !containsAll(line, []string{"sub:003 dlvrd:000", "err:069"}) {
		t.Errorf("receipt %s", line)
	}
	accept(parts[2], "82")
	smsc.fence()
	smsc.receipt(104, "80", "DELIVRD")
	smsc.receipt(105, "82", "DELIVRD")
	client.wantNo("deliver_sm")
}

// A receipt goes to no account by a route for the messages of its connector: not if its client has
// not asked for it, nor if it comes long before the answer to its submit, has an id that no message
// has, or cannot be understood. It is kept, also when the operator has routes tried again, and
// the answer finds it.
func TestReceiptsTakeNoRoute(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.routes = "{from: operator, to: {account: acme}}\n{to: operator}"
		g := start(t, s)
		acme, smsc, other := g.bind("transceiver"), s.operator.session(), g.dial("clients")
		other.bind("transceiver", "other", "s3cret")
		other.submit(2, 2) // asks for nothing
		other.want("submit_sm_resp", "seq=2", "status=0")
		smsc.send("submit_sm_resp seq=" + field(smsc.want("submit_sm"), "seq") + " status=0 message_id=AB1")
		smsc.fence()
		smsc.receipt(101, "AB1", "DELIVRD")
		smsc.receipt(102, "nobody's", "DELIVRD")
		smsc.send(`deliver_sm seq=103 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="secret of other"`)
		smsc.want("deliver_sm_resp", "seq=103", "status=0")
		known := other.submitOne(3, asks)
		line := smsc.want("submit_sm", asks)
		smsc.receipt(104, "AB2", "DELIVRD") // answered when it is kept
		smsc.send(moLine)
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
		testutil.Eventually(t, "they are kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 4 })
		g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateOrphan},
			operate.ResultUnknown, operate.ResultUnknown, operate.ResultUnknown, operate.ResultUnknown)
		smsc.send("submit_sm_resp seq=" + field(line, "seq") + " status=0 message_id=AB2")
		other.wantReceipt(known, "DELIVRD")
		acme.send("deliver_sm_resp seq=" + field(acme.want("deliver_sm", `short_message="hello"`), "seq") + " status=0")
		acme.fence()
		if !acme.silent("deliver_sm") {
			t.Error("another account has got a receipt")
		}
	})
}

// The gateway itself makes the receipt of a message that expires, that an SMSC refuses for
// good, or that an operator deletes, where the client has asked for it.
func TestOwnReceipts(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		refused := func(n int, more ...string) (known string) {
			known = client.submitOne(n, more...)
			smsc.answer(0x0B, field(smsc.want("submit_sm"), "seq"))
			return known
		}
		refused(1)
		line := client.wantReceipt(refused(2, asks), "REJECTD")
		if !strings.Contains(line, " err:011 ") {
			t.Errorf("receipt %s", line)
		}
		client.wantReceipt(refused(3, "registered_delivery=2"), "REJECTD")
		s.operator.down()
		smsc.conn.Close()
		testutil.Eventually(t, "the operator is down", func() bool { return g.Gateway.Table.Connector("operator").Online() == 0 })
		known := client.submitOne(4, "validity_period=000000000001000R", asks)
		client.wantReceipt(known, "EXPIRED")
		if s.memory {
			return // an operator cannot delete what is in no store
		}
		known = client.submitOne(5, asks)
		g.wantChange(operate.DeleteMessages, "", operate.Selection{State: operate.StateQueued, Connector: "operator"}, operate.ResultDeleted)
		client.wantReceipt(known, "DELETED")
		if n := g.Receipts.Counts.Own.Load(); n != 4 {
			t.Errorf("%d receipts of our own", n)
		}
	})
}

// A receipt that belongs to no message is kept, and can be looked at, matched again and deleted.
func TestOrphans(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewMem()}
	g := start(t, s)
	smsc := s.operator.session()
	g.online("operator", 1)
	smsc.receipt(101, "1", "DELIVRD")
	smsc.receipt(102, "2", "DELIVRD")
	g.wantStored(operate.StateOrphan, operate.StateOrphan)
	p, err := g.Operate.ListStored(operate.Selection{State: operate.StateOrphan, Text: true}, 0, 1)
	if err != nil || len(p.Messages) != 1 || p.Messages[0].Text == nil || !strings.HasPrefix(*p.Messages[0].Text, "id:1 sub:001") || p.Messages[0].Reason == "" {
		t.Errorf("%+v %v", p.Messages, err)
	}
	g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateOrphan}, operate.ResultUnknown, operate.ResultUnknown)
	g.wantChange(operate.DeleteMessages, "", operate.Selection{State: operate.StateOrphan}, operate.ResultDeleted, operate.ResultDeleted)
	if n := g.Gateway.Keeper.Aside(store.Orphan); n != 0 {
		t.Errorf("%d orphans are left", n)
	}
}
