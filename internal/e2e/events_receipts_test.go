package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// O6, O7, O12: events say what was delivered, and how often a message was written: here twice,
// because the session ended under two messages. A receipt that its client refuses is an event of
// its own. An SMSC's receipts are counted by what they say, once each.
func TestEventsOfReceipts(t *testing.T) {
	parallel(t)
	dir, operator := filepath.Join(t.TempDir(), "events"), newSMSC(t)
	g := start(t, site{operator: operator, store: vfs.NewMem(), top: eventsIn(dir)})
	smsc, c := operator.session(), g.bind("transceiver")
	ids := []string{c.submitOne(1, asks), c.submitOne(2, asks)}
	smsc.take(1, 2)
	smsc.conn.Close()
	smsc = operator.session()
	for i, sequence := range smsc.take(1, 2) {
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=7%d0001", sequence, i))
	}
	smsc.fence()
	smsc.receipt(101, "700001", "DELIVRD")
	c.wantReceipt(ids[0], "DELIVRD")
	smsc.receipt(102, "710001", "UNDELIV")
	line := c.want("deliver_sm", "message_state=5")
	c.send(fmt.Sprintf("deliver_sm_resp seq=%s status=0x400", field(line, "seq")))
	testutil.Eventually(t, "everything has ended", func() bool { return g.Pending() == 0 })
	counts := g.stats("operator").Receipts.Counts()
	if counts["delivered"] != 1 || counts["undeliverable"] != 1 {
		t.Error("the receipts are not counted by what they say")
	}
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	events := readEvents(t, dir)
	if len(events) != 4 {
		t.Fatalf("%d events", len(events))
	}
	for _, e := range events[:2] {
		if e.Kind != "submit" || e.State != "sent" || e.Attempts != 1 || e.Sends != 2 || e.About != "" || e.Delivery != "" {
			t.Errorf("%+v", e)
		}
	}
	for i, want := range []string{"sent delivered", "rejected undeliverable"} {
		e := events[2+i]
		if e.Kind != "receipt" || e.About != ids[i] || e.State+" "+e.Delivery != want || e.Error != "000" || e.Sends != 1 {
			t.Errorf("%+v", e)
		}
	}
	if n := g.log.count(`"message":"receipt given up: its client does not get it"`, `"about":"`+ids[1]+`"`,
		`"to_account":"acme"`, `"status":"0x400"`, `"failed_attempts":1`, `"delivery":"undeliverable"`); n != 1 {
		t.Errorf("%d lines tell of the refused receipt", n)
	}
}
