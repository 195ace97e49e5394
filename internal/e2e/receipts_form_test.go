package e2e

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The times of an SMSC's receipts are in the zone of its connector, and the client's in that of the
// client's connector, with the seconds that the SMSC has sent.
func TestReceiptTimezone(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, out: "receipt_timezone: Europe/Stockholm", clients: "receipt_timezone: Asia/Kolkata"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	for n, times := range [][2]string{
		{"submit date:2607010930 done date:2607012331", "submit date:2607011300 done date:2607020301"},
		{"submit date:260701093015 done date:260701093159", "submit date:260701130015 done date:260701130159"},
	} {
		id := string(rune('A' + n))
		known := client.submitted(smsc, 2+n, id)
		smsc.fence()
		smsc.send(`deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:` + id + ` ` + times[0] + ` stat:DELIVRD err:000 text:x"`)
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
		if line := client.wantReceipt(known, "DELIVRD"); !strings.Contains(line, times[1]) {
			t.Errorf("%s became %s", times[0], line)
		}
	}
}

// With receipts_by: text an SMSC's receipts with esm_class 0 reach the client of their message, with
// its id, and what a person writes goes by its route.
func TestReceiptsByText(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), memory: true, accounts: "{system_id: other, password: s3cret}", out: "receipts_by: text",
		routes: "{from: operator, to: {account: other}}\n{to: operator}",
	}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	other := g.bindOther("transceiver")
	known := client.submitted(smsc, 2, "71")
	next := client.submitted(smsc, 3, "72")
	smsc.fence()
	deliver := func(more string) {
		smsc.send("deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 " + more)
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
	}
	deliver(`short_message="my id:72 has stat:DELIVRD"`)
	line := other.want("deliver_sm")
	if !strings.HasSuffix(line, `short_message="my id:72 has stat:DELIVRD"`) {
		t.Errorf("another account was sent %s", line)
	}
	other.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	deliver(`short_message="id:71 stat:EXPIRED err:001 text:x"`)
	client.wantReceipt(known, "EXPIRED")
	deliver(`receipted_message_id="72\x00" message_state=2`)
	client.wantReceipt(next, "DELIVRD")
	other.fence()
	if !other.silent("deliver_sm") {
		t.Error("another account was sent a receipt")
	}
}

// Without it a text in the form of a receipt is one if a message has its id and was sent to that number, after a restart, too. Other
// such texts go by their route, as they are.
func TestReceiptsByTextOfOurs(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), store: vfs.NewMem(), accounts: "{system_id: other, password: s3cret}",
		routes: "{from: operator, to: {account: other}}\n{to: operator}",
	}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	other := g.bindOther("transceiver")
	known := client.submitted(smsc, 2, "c-71")
	next := client.submitted(smsc, 3, "c-72")
	smsc.fence()
	deliver := func(from, text string) {
		smsc.send(`deliver_sm seq=7 source_addr=` + from + ` destination_addr=1234 short_message="` + text + `"`)
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
	}
	brings := func(text string) {
		t.Helper()
		line := other.want("deliver_sm")
		if !strings.HasSuffix(line, `short_message="`+text+`"`) || strings.Contains(line, "esm_class") {
			t.Errorf("another account was sent %s", line)
		}
		other.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	deliver("46700000001", "id:c-71 stat:EXPIRED err:001 text:x")
	client.wantReceipt(known, "EXPIRED")
	for _, one := range [][2]string{
		{"46700000001", "id:c-99 stat:DELIVRD err:000 text:x"}, // of no message
		{"46709999999", "id:c-72 stat:DELIVRD err:000 text:x"}, // from another number
	} {
		deliver(one[0], one[1])
		brings(one[1])
	}
	client.conn.Close()
	other.conn.Close()
	smsc.conn.Close()
	g.stop()
	g = start(t, s)
	client, smsc = g.bind("transceiver"), s.operator.session()
	deliver("46700000001", "id:c-72 stat:DELIVRD err:000 text:x")
	client.wantReceipt(next, "DELIVRD")
}
