package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An account with receipts: force gets the receipts of all its messages, those that the gateway
// makes too, although it asks for none. Another account gets none, whatever the SMSC sends.
// A reload changes that.
func TestReceiptsForced(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewMem(), accounts: "{system_id: other, password: s3cret, receipts: force}"}
	g := start(t, s)
	acme, smsc, other := g.bind("transceiver"), s.operator.session(), g.dial("clients")
	other.bind("transceiver", "other", "s3cret")
	submit := func(p *peer, n, status int, registered string, more ...string) (known string) {
		t.Helper()
		p.submit(n, n, more...)
		known = field(p.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0"), "message_id")
		line := smsc.want("submit_sm", fmt.Sprintf("short_message=\"%d\"", n))
		if got := field(line, "registered_delivery"); got != registered {
			t.Errorf("message %d: the SMSC is asked for %q, not %q", n, got, registered)
		}
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=%d message_id=7%d", field(line, "seq"), status, n))
		return known
	}
	one := submit(other, 2, 0, "1")
	smsc.receipt(101, "72", "DELIVRD")
	other.wantReceipt(one, "DELIVRD")
	other.wantReceipt(submit(other, 3, 0x45, "1"), "REJECTD")
	four := submit(other, 4, 0, "17", "registered_delivery=16") // with intermediate notifications
	smsc.receipt(102, "74", "EXPIRED")
	other.wantReceipt(four, "EXPIRED")
	submit(acme, 5, 0, "")
	smsc.receipt(103, "75", "DELIVRD")
	submit(acme, 6, 0x45, "")

	s.accounts = "{system_id: other, password: s3cret}"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	submit(other, 7, 0, "")
	smsc.receipt(104, "77", "DELIVRD")
	testutil.Eventually(t, "all messages have ended", func() bool { return g.Pending() == 0 })
	for _, p := range []*peer{acme, other} {
		p.fence()
		if !p.silent("deliver_sm") {
			t.Error("a receipt that nobody has asked for")
		}
	}
}
