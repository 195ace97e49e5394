package e2e

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Without it a text in the form of a receipt is one if there is a message with this id to that number, after a restart,
// too. Other such texts go by their route, as they are.
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
