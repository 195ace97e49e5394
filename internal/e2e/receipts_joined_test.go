package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"pmg/store"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Parts that each ask for a receipt are joined. The receipt of the whole becomes one for each part,
// with the part's id. That holds for an SMSC's receipt, also if it came before its message was
// known, or after a power cut, and for the gateway's own.
func TestReceiptsOfJoinedParts(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "long_messages: join", store: vfs.NewCrashableMem()}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	l := longs()[0]
	ref := byte(0)
	submit := func(registered ...string) (ids []string) {
		t.Helper()
		ref++
		p := l.parts(ref)
		for i, r := range registered {
			p[i] = strings.Replace(p[i], "data_coding", "registered_delivery="+r+" data_coding", 1)
		}
		return client.submitAll(10*int(ref), p...)
	}
	accept := func(id, registered string, status int) {
		t.Helper()
		line := smsc.want("submit_sm", "registered_delivery="+registered)
		if field(line, "esm_class") != "" {
			t.Errorf("a part: %s", line)
		}
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=%d message_id=%s", field(line, "seq"), status, id))
	}
	want := func(stat string, ids ...string) {
		t.Helper()
		var got []string
		for range ids {
			line := client.want("deliver_sm", "esm_class=4", "source_addr=46700000001", "destination_addr=1234")
			for _, id := range ids {
				if containsAll(line, []string{"id:" + id + " ", " stat:" + stat + " ", `receipted_message_id="` + id}) {
					got = append(got, id)
				}
			}
			client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		}
		if slices.Sort(got); !slices.Equal(got, ids) {
			t.Errorf("receipts of %s, want %s", got, ids)
		}
	}
	all := submit("1", "1", "1", "1")
	accept("71", "1", 0)
	smsc.receipt(101, "71", "DELIVRD")
	want("DELIVRD", all...)

	some := submit("2", "1", "17", "0") // of failure, of both, of both and progress, none
	accept("72", "17", 0)
	smsc.receipt(102, "72", "DELIVRD")
	want("DELIVRD", some[1:3]...)

	some = submit("2", "1", "0", "0")
	accept("", "1", 0x45)
	want("REJECTD", some[:2]...)

	smsc.receipt(103, "74", "DELIVRD")
	testutil.Eventually(t, "it is kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 1 })
	all = submit("1", "1", "1", "1")
	accept("74", "1", 0)
	want("DELIVRD", all...)

	all = submit("1", "1", "1", "1")
	testutil.Eventually(t, "the parts are joined", func() bool { return g.Pending() == 1 && g.synced() })
	g = g.powerCut(&s, client, smsc) // the SMSC has not answered
	client, smsc = g.bind("transceiver"), s.operator.session()
	accept("75", "1", 0)
	testutil.Eventually(t, "all is stored", func() bool { return g.Pending() == 0 && g.synced() })
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	smsc.receipt(104, "75", "EXPIRED")
	want("EXPIRED", all...)
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("another receipt")
	}
	testutil.Eventually(t, "no place is taken", func() bool { return g.Pending() == 0 })
}
