package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/sms"
)

var decimalForm = regexp.MustCompile(`^[1-9][0-9]{15}$`)

// hexForm returns the other form of a decimal id.
func hexForm(t *testing.T, id string) string {
	t.Helper()
	n, err := sms.ParseID(id)
	if err != nil {
		t.Fatal(err)
	}
	return sms.FormatID(n)
}

// An account that wants decimal ids gets them in answers and receipts, and asks with them. Another account is not concerned.
func TestDecimalIDs(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), store: vfs.NewMem(), accounts: "{system_id: other, password: s3cret, profile: numbers}",
		top:  "profiles: [{name: numbers, account: {smpp: {message_ids: decimal}}}]\n",
		more: withAPI,
	}
	g := start(t, s)
	c, smsc, hex := g.bindOther("transceiver"), s.operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	id := c.submitted(smsc, 1, "77")
	if !decimalForm.MatchString(id) {
		t.Errorf("the id is %s", id)
	}
	smsc.fence()
	smsc.receipt(7, "77", "DELIVRD")
	c.wantReceipt(id, "DELIVRD")
	g.settled()
	c.ask("query_sm seq=2 message_id="+id+" source_addr=1234", "status=0", "message_id="+id, "message_state=2")
	a := g.api()
	a.name = "other"
	for way, text := range map[string]string{"decimal": id, "hexadecimal": hexForm(t, id)} {
		if r := a.do("GET", "/v1/messages/"+text, ""); r.text("state") != "delivered" {
			t.Errorf("%s: %d %s", way, r.status, r.body)
		}
	}

	c.send("submit_sm seq=3 source_addr=1234 destination_addr=46700000001 schedule_delivery_time=000000010000000R short_message=\"later\"")
	waits := c.ids(3, 3)[3]
	c.ask(`replace_sm seq=4 message_id=`+waits+` source_addr=1234 short_message="new"`, "status=0")
	c.ask("query_sm seq=5 message_id="+waits+" source_addr=1234", "status=0", "message_id="+waits, "message_state=1")
	c.ask("cancel_sm seq=6 message_id="+hexForm(t, waits)+" source_addr=1234", "status=0")
	c.ask("cancel_sm seq=7 message_id=17 source_addr=1234", invalidID)

	c.send("submit_multi seq=8 source_addr=1234 number_of_dests=1 dest_flag=1 destination_addr=46700000001 schedule_delivery_time=000000010000000R")
	if got := field(c.want("submit_multi_resp", "seq=8", "status=0"), "message_id"); !decimalForm.MatchString(got) {
		t.Errorf("the id of several is %s", got)
	}
	if id := hex.submitOne(1); len(id) != 16 || id[0] != '0' {
		t.Errorf("the id of the other account is %s", id)
	}
}

// Receipts have the times and the text that their account asks for, from a reload on.
func TestReceiptForm(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), store: vfs.NewMem(), clients: "receipt_timezone: Europe/Stockholm",
		accounts: "{system_id: other, password: s3cret, smpp: {receipt_timezone: Asia/Kolkata, receipt_seconds: always, receipt_text: empty}}",
	}
	g := start(t, s)
	smsc := s.operator.session()
	g.online("operator", 1)
	seq := 1
	receipt := func(c *peer, want string) {
		t.Helper()
		seq++
		known := c.submitted(smsc, seq, "c-7"+string(rune('0'+seq)))
		smsc.fence()
		smsc.receipt(seq+20, "c-7"+string(rune('0'+seq)), "DELIVRD")
		line := c.wantReceipt(known, "DELIVRD")
		_, text, _ := strings.Cut(line, "short_message=")
		if text, _, _ = strings.Cut(strings.TrimPrefix(text, `"`), `"`); text != "id:"+known+want {
			t.Errorf("the receipt is %s", text)
		}
	}
	receipt(g.bind("transceiver"), " sub:001 dlvrd:001 submit date:2511220202 done date:3511220203 stat:DELIVRD err:000 text:x")
	c := g.bindOther("transceiver")
	receipt(c, " sub:001 dlvrd:001 submit date:251122063200 done date:351122063300 stat:DELIVRD err:000 text:")
	s.accounts = strings.NewReplacer("always", "never", "empty", "none").Replace(s.accounts)
	g.mustReload(s)
	receipt(c, " sub:001 dlvrd:001 submit date:2511220632 done date:3511220633 stat:DELIVRD err:000")
}
