package system

import (
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// twoAccounts are accounts that receive what is sent to a short number of their own.
const twoAccounts = `{system_id: one, password: secret, receives: ["1001"]}
{system_id: two, password: secret, receives: ["1002"]}`

// Every message has one receipt, which reaches the account that submitted it, however the
// SMSC writes message ids, in whatever order its answer and its receipt come, and in every
// pair of protocols. So does every message from the network. There is a store, because a
// receipt that is far ahead of the answer waits there.
func TestLoadReceipts(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name, clients, smsc string
		receipts            loadtest.ReceiptOptions
		separate            bool
	}{
		{"decimal in the receipt", "smpp", "smpp", loadtest.ReceiptOptions{ReceiptIDForm: loadtest.DecimalForm, Fail: 0.1}, false},
		{"hexadecimal in the receipt", "smpp", "smpp", loadtest.ReceiptOptions{IDForm: loadtest.DecimalForm, ReceiptIDForm: loadtest.UpperForm}, false},
		{"before the answer", "smpp", "smpp", loadtest.ReceiptOptions{First: true}, false},
		{"other session", "smpp", "smpp", loadtest.ReceiptOptions{OtherSession: true, Format: loadtest.ReceiptText}, true},
		{"parameters only", "smpp", "smpp", loadtest.ReceiptOptions{Format: loadtest.ReceiptTLV, DelayMax: 20 * time.Millisecond}, true},
		{"from SMPP to UCP", "smpp", "ucp", loadtest.ReceiptOptions{Fail: 0.1}, false},
		{"from UCP to SMPP", "ucp", "smpp", loadtest.ReceiptOptions{First: true}, false},
		{"UCP", "ucp", "ucp", loadtest.ReceiptOptions{OtherSession: true, First: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, sink := startBetween(t, loadtest.SinkOptions{
				Protocol: c.smsc, Receipts: true, Receipt: c.receipts, Messages: 2000,
				MO: loadtest.MOOptions{Count: 500, To: []string{"1001", "1002"}},
			}, site{accounts: twoAccounts, clients: "protocol: " + c.clients})
			result, compared := run(t, p, sink, func(o *loadtest.LoadOptions) {
				o.Protocol, o.Connections, o.Messages, o.Receipts, o.Separate = c.clients, 4, 2000, true, c.separate
				o.Accounts = []loadtest.Account{{SystemID: "one", Password: "secret"}, {SystemID: "two", Password: "secret"}}
				o.MO, o.MOTo = 500, []string{"1001", "1002"}
			})
			if p := compared.Problems(); p != nil || result.Receipts != 2000 || result.MO != 500 {
				t.Errorf("%v, %+v", p, result)
			}
			testutil.Eventually(t, "every receipt is answered", func() bool { return sink.Result().Problems() == nil })
		})
	}
}
