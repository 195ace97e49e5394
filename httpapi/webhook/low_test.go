package webhook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/smtptest"
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

// The addresses of an account get a mail when its balance becomes low, once until it has risen, beside the webhook. A
// mail that waits is not needed when the balance has risen meanwhile, or its address is the account's no more.
func TestLowBalanceByMail(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("*,0.4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := smtptest.New(t, smtptest.Options{})
	hook := apitest.NewHook(t)
	yamlOf := func(addresses string) string {
		return yaml(hook, `, prices: p, balance: {low: "1"}, timezone: Asia/Kolkata, mail: [`+addresses+"]", "") +
			"\nprices: [{name: p, currency: EUR, file: " + prices + "}]\nmail: {server: \"" + server.Address + "\", from: sms@example.net, tls: none}\n"
	}
	both := yamlOf("ann@example.net, bob@example.net")
	r := newRigOf(t, hook, both)
	money := &r.Gateway.Node.Origins.TallyOf("shop").Credit
	spend := func(n int) {
		for range n {
			r.submit("shop", sms.NotifySent, sms.Context{})
			r.SMSC.Accept("x")
			eventually(t, "it has left", r.left)
		}
	}
	money.Pay(1_500_000)
	spend(3)
	eventually(t, "two mails come", func() bool { return r.mail.Figures().Sent == 2 })
	all := server.Took()
	if to := []string{all[0].To, all[1].To}; !slices.Contains(to, "ann@example.net") || !slices.Contains(to, "bob@example.net") {
		t.Errorf("%q", to)
	}
	if m := all[0]; !strings.Contains(m.Text, "account shop is 0.70 EUR. It fell below 1.00 EUR at 20") || !strings.Contains(m.Text, "Asia/Kolkata") || m.Header("Subject") != "The balance of shop is low" {
		t.Error(m.Text)
	}
	money.Pay(1_000_000)
	if r.service.isLowStill("shop", "ann@example.net") {
		t.Error("a balance that has risen is low")
	}
	spend(2)
	eventually(t, "two more come", func() bool { return r.mail.Figures().Sent == 4 })
	if !r.service.isLowStill("shop", "ann@example.net") || r.service.isLowStill("shop", "eve@example.net") || r.service.isLowStill("none", "ann@example.net") {
		t.Error("not those get mail who are to get it")
	}
	r.Reload(yamlOf("bob@example.net"))
	if r.service.isLowStill("shop", "ann@example.net") || !r.service.isLowStill("shop", "bob@example.net") {
		t.Error("who is not an address of the account any more gets mail")
	}
}
