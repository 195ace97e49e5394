package e2e

import (
	"fmt"
	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/store"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A receipt has the addresses that the client wrote, whatever rules have changed them, also
// over power cuts, and whoever has made it.
func TestReceiptHasClientsAddresses(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), store: vfs.NewCrashableMem(),
		clients: `rewrite: [{in: destination, strip: "+", ton: 1, npi: 1}, {in: source, match: "1234", set: PMG, ton: 5}, {out: source, add: "00"}]`,
		out:     `rewrite: [{out: destination, add: "00"}]`,
	}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	submit := func(n int, source, dest string) (known string) {
		t.Helper()
		client.send(fmt.Sprintf("submit_sm seq=%d source_addr=%s destination_addr=%s %s short_message=\"x\"", n, source, dest, asks))
		return field(client.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0"), "message_id")
	}
	accept := func(id string, status int, fields ...string) {
		t.Helper()
		line := smsc.want("submit_sm", append(fields, "destination_addr=0046700000001")...)
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=%d message_id=%s", field(line, "seq"), status, id))
	}
	receipt := func(n int, id string) {
		t.Helper()
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=0046700000001 destination_addr=PMG esm_class=4 short_message="id:%s stat:DELIVRD"`, n, id))
		smsc.want("deliver_sm_resp", fmt.Sprint("seq=", n), "status=0")
	}
	want := func(known, stat, source, dest string) {
		t.Helper()
		line := client.want("deliver_sm", "esm_class=4", "source_addr="+dest, "destination_addr="+source)
		if !containsAll(line, []string{"id:" + known + " ", " stat:" + stat + " "}) || field(line, "source_addr_ton") != "" || field(line, "dest_addr_ton") != "" {
			t.Errorf("want a receipt of %s with %s, got %s", known, stat, line)
		}
		client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	one := submit(2, "1234", "+46700000001")
	accept("71", 0, "source_addr=PMG")
	receipt(101, "71")
	want(one, "DELIVRD", "1234", "+46700000001")

	two := submit(3, "4321", "46700000001") // no rule changes it
	accept("72", 0, "source_addr=4321")
	receipt(102, "72")
	want(two, "DELIVRD", "4321", "46700000001")

	three := submit(4, "1234", "+46700000001")
	accept("", 0x45, "source_addr=PMG")
	want(three, "REJECTD", "1234", "+46700000001")

	receipt(103, "74")
	testutil.Eventually(t, "it is kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 1 })
	four := submit(5, "1234", "+46700000001")
	accept("74", 0, "source_addr=PMG")
	want(four, "DELIVRD", "1234", "+46700000001")

	five, six := submit(6, "4321", "+46700000001"), submit(7, "1234", "46700000001")
	accept("75", 0, "source_addr=4321")
	g.wantStored(operate.StateQueued) // the other one
	if err := g.Gateway.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	accept("76", 0, "source_addr=PMG")
	testutil.Eventually(t, "all is stored", func() bool { return g.Pending() == 0 && g.synced() })
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	receipt(104, "75")
	want(five, "DELIVRD", "4321", "+46700000001")
	receipt(105, "76")
	want(six, "DELIVRD", "1234", "46700000001")
}
