package portal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/events/stats"
	"pmg/gateway/credit"
	"pmg/internal/timetext"
	"pmg/sms"
)

// An account sees its own sums: today's on the first page, by day with a chart and as CSV.
func TestStatistics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := stats.Open(dir, 0, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	for n := range 10 {
		account := []string{"shop", "rival"}[n%3%2] // 7 and 3
		line := fmt.Sprintf(`{"number":%d,"kind":"submit","state":"sent","account":%q,"connector":"operator","network":"24001","ended_at":"%s"}`+"\n",
			n+1, account, now.Format("2006-01-02T15:04:05.000000Z"))
		if err := c.Count([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Save(true); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, accounts(""), "", "public_name: express", "events: {dir: "+t.TempDir()+"}", "stats: {dir: "+dir+"}")
	b := r.user("shop", config.LookScope)
	day := now.Format(time.DateOnly)
	b.has("statistics?from=yesterday", "<th scope=\"row\">"+day+"</th>", `<meter min="0" max="7" value="7">`, `href="/portal/statistics.csv?by=day&amp;from=yesterday&amp;to="`)
	b.has("statistics?by=month&from=yesterday", "<th scope=\"row\">"+now.Format("2006-01")+"</th>")
	w := b.has("statistics.csv?by=account,connector&from=yesterday", "day,messages,accepted,", "\n"+day+",7,7,7,")
	if w := b.has("statistics?by=network&from=yesterday", "<th scope=\"row\">"+day+"</th>"); strings.Contains(w.body, "24001") || strings.Contains(w.body, "<option>network") {
		t.Error("an account without show_network sees networks")
	}
	r.Reload(strings.Replace(r.yaml, "{system_id: shop,", "{system_id: shop, show_network: true,", 1))
	b.has("statistics?by=network&from=yesterday", "<th scope=\"row\">24001</th>", "<option selected>network</option>")
	for _, page := range []string{w.body, b.get("statistics?account=rival&connector=operator").body} {
		if strings.Contains(page, "rival") || strings.Contains(page, "operator") {
			t.Error(page)
		}
	}
	if w.header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.HasPrefix(w.header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("%v", w.header)
	}
	b.has("", "<h2>Today, by UTC</h2>", "<dt>sent</dt><dd>7</dd>")
	for zone, shown := range map[string]string{"Pacific/Auckland": "Pacific/Auckland", "Asia/Kolkata": "UTC, by whose hours is counted; those of Asia/Kolkata begin between them"} {
		r.Reload(strings.Replace(r.yaml, "{system_id: shop,", "{system_id: shop, timezone: "+zone+",", 1))
		at, _ := timetext.LoadZone(zone)
		if shown != zone {
			at = time.UTC
		}
		b.has("statistics?from=yesterday", "Days and hours are "+shown+". ", "<th scope=\"row\">"+now.Truncate(time.Hour).In(at).Format(time.DateOnly)+"</th>")
		b.has("", "<h2>Today, by "+at.String()+"</h2>")
	}
	r.Reload(r.yaml)
	if w := b.get("statistics?from=2026-13-13"); w.code != 400 {
		t.Errorf("%+v", w)
	}
	if !r.Gateway.Logins.Accounts().Account("shop").Search() {
		t.Fatal("a search has not ended")
	}
	if w := b.get("statistics"); w.code != 503 || w.header.Get("Retry-After") == "" {
		t.Errorf("while a list is made: %+v", w)
	}
}

// An account sees its own prices, those of now and the next ones, finds them by a code, a number and a name, and has them as CSV.
func TestPrices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mine": "for,price,valid_from\n24001,0.045\n24001,0.05,2037-12-01\n+46701,0.04\n310,0.02\n*,0.09\n", "theirs": "*,0.0777\n", "networks": "46701,24001,Telia\n4670,24002,Tre <b>\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, strings.Replace(accounts(", prices: mine"), "{system_id: rival,", "{system_id: rival, prices: theirs,", 1), "", "",
		fmt.Sprintf("prices: [{name: mine, currency: EUR, file: %s/mine}, {name: theirs, currency: SEK, file: %[1]s/theirs}]\nnetworks: {file: %[1]s/networks, columns: [prefix, network, name]}", dir))
	b := r.user("shop", config.LookScope)
	w := b.has("prices", ">24001</th><td>Telia</td><td class=\"n\">0.045</td><td class=\"n\">0.05</td><td>2037-12-01</td>", ">&#43;46701</th>", ">*</th>", "EUR for a short message")
	if strings.Contains(w.body, "0.0777") || strings.Contains(w.body, "mine") {
		t.Error(w.body)
	}
	for q, want := range map[string]string{"240": ">24001<", "%2B467": ">&#43;46701<", "%2B46701740605": ">&#43;46701<", "tel": ">24001<", "310": ">310<"} {
		if w := b.has("prices?q="+q, want); strings.Count(w.body, "<th scope=\"row\">") != 1 {
			t.Errorf("%s: %s", q, w.body)
		}
	}
	b.has("prices?q=nothing", "No price fits.")
	w = b.has("prices.csv?q=2400", "for,price,valid_from,currency,name\n24001,0.045,,EUR,Telia\n24001,0.05,2037-12-01,EUR,Telia\n")
	if !strings.HasPrefix(w.header.Get("Content-Disposition"), "attachment;") {
		t.Error(w.header)
	}
	r.user("rival", config.LookScope).has("prices", "0.0777", "SEK")
}

// An account sees its money and its payments, and neither who has entered them nor what that one has noted. What a message would cost
// is shown before it is sent, and a message without money is refused.
func TestBalance(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("*,0.05\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, accounts(`, prices: standard, balance: {mode: prepaid, day: "5"}`), "", "", "prices: [{name: standard, currency: EUR, file: "+prices+"}]")
	b, other := r.user("shop", config.SendScope), r.user("rival", config.SendScope)
	b.has("balance", "None yet.", "<dd>0.00 EUR</dd>")
	other.has("balance", "This account is not charged")
	if w := b.post("send", "from", "Shop", "to", "+46700000001", "text", "hello"); w.code != 402 || !strings.Contains(w.body, "0.05 EUR are missing") {
		t.Errorf("%+v", w)
	}
	for account, p := range map[string]credit.Payment{
		"shop": {Reference: "<b>invoice-1", Comment: "slow payer", By: "user anna from 192.0.2.1"}, "rival": {Reference: "of-the-rival"},
	} {
		amount, _ := sms.ReadMoney("12.5")
		if _, err := r.Gateway.Intake.Credit.Pay(account, amount, p); err != nil {
			t.Fatal(err)
		}
	}
	w := b.has("balance", "<dd>12.50 EUR</dd>", "&lt;b&gt;invoice-1", "charged today")
	for _, hidden := range []string{"slow payer", "anna", "192.0.2.1", "of-the-rival", "standard"} {
		if strings.Contains(w.body, hidden) {
			t.Errorf("%s: %s", hidden, w.body)
		}
	}
	less, _ := sms.ReadMoney("-1")
	if _, err := r.Gateway.Intake.Credit.Pay("shop", less, credit.Payment{Reference: "correction"}); err != nil {
		t.Fatal(err)
	}
	if w := b.has("balance", "<dd>11.50 EUR</dd>"); strings.Index(w.body, "correction") > strings.Index(w.body, "invoice-1") {
		t.Error("the latest payment is not the first")
	}
	if w := b.post("send", "from", "Shop", "to", "+46700000001", "text", strings.Repeat("a", 200), "preview", "1"); !strings.Contains(w.body, "2 short messages (gsm7), 0.10 EUR.") {
		t.Errorf("%+v", w)
	}
	id := b.sendText("+46700000001", "hello")
	if w := b.has("messages/" + id); strings.Contains(w.body, "<dt>Price") { // the account has no show_price
		t.Error(w.body)
	}
	b.has("", "<dt>balance</dt><dd>11.50 EUR</dd>", "<dt>available</dt><dd>")
}

// With show_price the page of a message has its price.
func TestPriceOfMessage(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("*,0.05\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, accounts(", prices: standard, show_price: true"), "", "", "prices: [{name: standard, currency: EUR, file: "+prices+"}]")
	b := r.user("shop", config.SendScope)
	b.has("messages/"+b.sendText("+46700000001", "hello"), "<dt>Price</dt><dd>0.05 EUR</dd>")
}

// An account sees its webhook without what may be secret, and how its servers answer.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(`, webhook: "https://shop.example/sms?key=hidden", webhook_form: kannel-get`), "", "")
	b := r.user("shop", config.LookScope)
	w := b.has("webhooks", "https://shop.example/sms?…", "None was called yet.", "None is remembered.")
	for _, hidden := range []string{"hidden"} {
		if strings.Contains(w.body, hidden) {
			t.Errorf("%s: %s", hidden, w.body)
		}
	}
	for text, want := range map[string]string{"": "", "http://a/b": "http://a/b", "http://u@a/?x=y": "http://a/?…", "http://a/%zz": "", "http://a:80/b?": "http://a:80/b?"} {
		if got := withoutSecrets(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
