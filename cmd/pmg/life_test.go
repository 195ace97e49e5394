package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"pmg/internal/passhash"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

// A customer's life, by pages alone: the operator makes prices, an account with a user and a route; the user finds no money, the
// operator enters a payment, the user sends, sees the receipt and runs out of money, gets more, makes a key, and sees the month; at
// the end the recipient is forgotten.
func TestCustomerByPages(t *testing.T) {
	testutil.Long(t)
	b := chrome.Start(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	const password = "horse battery"
	r := runServer(t, fmt.Sprintf(`store: {dir: %[1]s/store}
pdulog: {dir: %[1]s/pdulog}
events: {dir: %[1]s/events}
stats: {dir: %[1]s/stats}
managed: {dir: %[1]s/managed}
admin: {address: "127.0.0.1:0", users: [{name: olga, scope: administer, password: "%[2]s"}]}
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0", portal: true}
  - {name: smsc, direction: out, protocol: test}
accounts: [{system_id: main, password: secret}]
`, dir, passhash.New([]byte(password))))
	operators := "http://" + r.admin.Addr() + "/ui/"
	customers := "http://" + strings.Replace(r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String(), "127.0.0.1", "localhost", 1) + "/portal/"
	run, click := b.Do, chrome.Click
	shows := func(text string) chromedp.Action {
		return chromedp.WaitVisible(`//main//*[contains(text(), "` + text + `")]`)
	}
	fill := func(field, text string) chromedp.Action { return chromedp.SetValue(field, text) }
	advanced := chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil)
	put := func(kind, name, rows, options string) {
		t.Helper()
		run(chromedp.Navigate(operators+"managed"), fill(`select[name=kind]`, kind), fill(`input[name=name]`, name),
			click(`//button[text()="Make or open"]`), shows("There is none yet."))
		if rows != "" {
			run(advanced, fill(`textarea[name=rows]`, rows), click(`//button[text()="Put the rows in force"]`), shows("in force"))
		}
		run(advanced, fill(`textarea[name=options]`, options), click(`//button[text()="Put in force"]`), shows("in force"), chromedp.WaitVisible(`//h2[text()="History"]`))
	}
	run(chromedp.Navigate(operators + "managed"))
	b.LogIn("olga", password)
	put("prices", "std", "for,price\n*,0.10\n", `{"currency": "EUR"}`)
	put("accounts", "acme", "", `{"password": "s3cret", "prices": "std", "balance": {"mode": "prepaid"},
		"users": [{"name": "ann", "password": "correct horse", "scope": "manage"}]}`)
	put("routes", "acme", "", `{"account": "acme", "to": "smsc"}`)
	run(chromedp.Navigate(customers), fill(`input[name=account]`, "acme"))
	b.LogIn("ann", "correct horse")
	send := func(then chromedp.Action) {
		t.Helper()
		run(chromedp.Navigate(customers+"send"), fill(`input[name=from]`, "Shop"), fill(`input[name=to]`, "+46701740600"),
			fill(`textarea[name=text]`, "hello"), click(`//button[text()="Send"]`), then)
	}
	pay := func(amount, reference string) {
		t.Helper()
		run(chromedp.Navigate(operators+"accounts/acme"), fill(`input[name=amount]`, amount), fill(`input[name=reference]`, reference),
			click(`//button[text()="Enter the payment"]`), chromedp.WaitVisible(`//p[@class="notice"]`))
	}
	send(shows("are missing"))
	pay("0.10", "invoice 1")
	sent := chromedp.WaitVisible(`//h2[text()="Outcome"]`)
	send(sent)
	var text string
	testutil.Eventually(t, "the message is delivered", func() bool {
		run(chromedp.Reload(), sent, chromedp.Text(`main`, &text))
		return strings.Contains(text, "delivered")
	})
	send(shows("are missing"))
	pay("5", "invoice 2")
	send(sent)
	run(chromedp.Navigate(customers+"balance"), shows("4.90"), shows("invoice 2"))
	run(chromedp.Navigate(customers+"keys"), fill(`input[name=name]`, "crm"), click(`//button[text()="Make a key"]`), shows("shown only now"))
	testutil.Eventually(t, "both messages are counted", func() bool {
		run(chromedp.Navigate(customers+"statistics?by=month"), chromedp.Text(`main`, &text))
		return strings.Contains(strings.Join(strings.Fields(text), " "), "2 2")
	})
	run(chromedp.Navigate(customers+"messages?q=%2B46701740600"), chromedp.Text(`main`, &text))
	if strings.Contains(text, "No message") {
		t.Errorf("the messages are not found: %s", text)
	}
	run(chromedp.Navigate(operators+"messages?q=%2B46701740600"), click(`//button[text()="Forget this number"]`), chromedp.WaitVisible(`//p[@class="notice"]`))
	for _, page := range []string{customers, operators} {
		run(chromedp.Navigate(page+"messages?q=%2B46701740600"), chromedp.Text(`main`, &text))
		if !strings.Contains(text, "No ") {
			t.Errorf("%smessages: the number is not forgotten: %s", page, text)
		}
	}
	b.Silent("402 (Payment Required)")
}
