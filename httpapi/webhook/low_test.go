package webhook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/sms"
)

// The webhook of an account is called, signed, when its balance becomes low, and not again until it has risen.
func TestLowBalance(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("*,0.4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := apitest.NewHook(t)
	yaml := yaml(hook, `, prices: p, balance: {low: "1"}`, "") + "\nprices: [{name: p, currency: EUR, file: " + prices + "}]\n"
	r := newRigOf(t, hook, yaml)
	money := &r.Gateway.Node.Origins.TallyOf("shop").Credit
	money.Pay(1_500_000)
	for range 3 {
		r.submit("shop", sms.NotifySent, sms.Context{})
		r.SMSC.Accept("x")
		eventually(t, "it has left", r.left)
	}
	eventually(t, "the webhook is called", func() bool { return len(hook.Took("balance.low")) == 1 })
	one := hook.Took("balance.low")[0]
	if !strings.Contains(one.Body, `"data":{"account":"shop","balance":"0.70","low":"1.00"}`) || one.Header.Get("Webhook-Signature") == "" {
		t.Errorf("%+v", one)
	}
	money.Pay(1_000_000)
	for range 2 {
		r.submit("shop", sms.NotifySent, sms.Context{})
		r.SMSC.Accept("x")
		eventually(t, "it has left", r.left)
	}
	eventually(t, "the webhook is called again", func() bool { return len(hook.Took("balance.low")) == 2 })
}
