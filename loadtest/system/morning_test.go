package system

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pmg/events/statement"
	"pmg/internal/passhash"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

var morningPapers = flag.String("morning-papers", "", "directory into which TestMorning writes the statement as PDF, and pictures of pages")

const morningConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0", users: [{name: ann, password: %q, scope: administer}]}
store: {dir: %q, ballast: 0B}
events: {dir: %q, rotate_every: 0s}
stats: {dir: %q}
managed: {dir: %q}
networks: {file: %q}
connectors:
  - {name: web, protocol: http, direction: in, address: %q}
  - {name: north, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms}
  - {name: south, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms}
no_route: refuse
`

// The sheets as the suppliers send them, and the reseller's own.
var morningSheets = map[string]string{
	"north": "\ufeff\"MCC\";\"MNC\";\"Country\";\"Network\";\"Price EUR\";\"Valid from\"\r\n\"240\";\"01\";\"Sweden\";\"Telia\";\"0,0300\";\"\"\r\n" +
		"\"240\";\"02\";\"Sweden\";\"Tre\";\"0,0310\";\"01.01.2026\"\r\n\"262\";\"\";\"Germany\";\"\";\"0,0500\";\"\"\r\n",
	"south":    "Country,MCCMNC,Operator,Rate (EUR)\nSweden,24001,Telia,0.0280\nSweden,24002,Tre,0.0390\nGermany,262,all networks,0.0450\n",
	"retail":   "network;price\n24001;0.045\n24002;0.050\n262;0.070\n",
	"retail-2": "network;price\n24001;0.049\n24002;0.050\n262;0.070\n",
}

const morningNetworks = "prefix,mcc,mnc,name\n46701,240,01,Telia\n46702,240,02,Tre\n49,262,,Germany\n"

// morningCustomers are the reseller's customers, and how many messages each sends to Telia, Tre and Germany.
var morningCustomers = []struct {
	name   string
	counts [3]int
}{{"acme", [3]int{7, 2, 1}}, {"bank", [3]int{3, 0, 0}}, {"gym", [3]int{0, 4, 0}}, {"news", [3]int{1, 1, 1}}, {"shop", [3]int{0, 0, 5}}}

// A morning is the browser of a reseller, with the gateway.
type morning struct {
	t    *testing.T
	b    *chrome.Browser
	p    *process.Process
	base string
	file string
}

// A reseller's first morning, in a real browser, without JSON: two suppliers' sheets and an own one, what suppliers take, routes to the
// cheaper one, five customers, a payment, traffic, a STOP that is found by its number, a changed price, margins, and the month's
// statement on paper.
func TestMorning(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	smscs := map[string]*loadtest.Sink{}
	for _, name := range []string{"north", "south"} {
		s, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Receipts: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		smscs[name] = s
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("networks.csv"), []byte(morningNetworks), 0o600); err != nil {
		t.Fatal(err)
	}
	file := process.WriteConfig(t, fmt.Sprintf(
		morningConfig, passhash.New([]byte("s3cret-of-ann")), process.NewStoreDir(t), in("events"), in("stats"), in("managed"), in("networks.csv"),
		testutil.FreeAddress(t), smscs["north"].Addr(), smscs["south"].Addr(),
	))
	p := program(t).Serve(t, file)
	m := &morning{t, b, p, "http://" + p.Wait("admin listening").Address, file}
	m.open("/ui/managed")
	b.LogIn("ann", "s3cret-of-ann")
	m.prices()
	m.list()
	m.customers()
	m.routes()
	m.pays("acme", "100")
	m.traffic(smscs)
	m.optOut(smscs["north"])
	m.changesPrice()
	m.looksAtMoney()
	b.Silent()
}

func (m *morning) open(path string) { m.t.Helper(); m.b.Do(chromedp.Navigate(m.base + path)) }

func (m *morning) do(actions ...chromedp.Action) { m.t.Helper(); m.b.Do(actions...) }

// has waits for a text of the page.
func has(text string) chromedp.Action {
	return chromedp.WaitVisible(`//*[contains(text(), "` + text + `")]`)
}

func press(button string) chromedp.Action { return chrome.Click(`//button[text()="` + button + `"]`) }

func set(name, value string) chromedp.Action {
	return chromedp.SetValue(`[name="`+name+`"]`, value)
}

// upload puts a sheet in force.
func (m *morning) upload(list, sheet string, words ...string) {
	m.t.Helper()
	path := filepath.Join(m.t.TempDir(), sheet+".csv")
	if err := os.WriteFile(path, []byte(morningSheets[sheet]), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.open("/ui/managed/prices." + list)
	m.do(chromedp.SetUploadFiles(`input[type=file]`, []string{path}), press("Read the sheet"), has("is not in force yet"))
	for _, word := range words {
		m.do(has(word))
	}
	m.do(press("Put these prices in force"), has("In force, as change"))
}

// prices uploads the sheets, and says which connector costs what: the one thing that stands in the file.
func (m *morning) prices() {
	m.upload("north", "north", "It has 3 prices")
	m.upload("south", "south", "It has 3 prices")
	m.upload("retail", "retail", "It has 3 prices")
	text, err := os.ReadFile(m.file)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, name := range []string{"north", "south"} {
		text = []byte(strings.Replace(string(text), "{name: "+name+", direction: out,", "{name: "+name+", direction: out, costs: "+name+",", 1))
	}
	if err := os.WriteFile(m.file, text, 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.open("/ui/configuration?pending=1")
	m.do(press("Reload the configuration"), has("connectors[north].costs"))
}

// list makes the list of opt-outs.
func (m *morning) list() {
	m.open("/ui/lists")
	m.do(chrome.Click(`//a[text()="New list"]`), chromedp.WaitVisible(`//h1[text()="New list"]`), chromedp.SendKeys(`[name=name]`, "optouts"),
		chrome.Click(`[name="o.opt_out_from"][value=north]`), chrome.Click(`[name="o.opt_out_from"][value=south]`), chromedp.SendKeys(`[name="o.stop_reply"]`, "You get no more."),
		press("Show what changes"), has("lists[optouts]: absent"), press("Put in force"), has("In force, as change"))
}

// customers makes the customers: the first by its fields, the others like it.
func (m *morning) customers() {
	for i := range morningCustomers {
		path := "/ui/new/customer"
		if i > 0 {
			path += "?like=acme"
		}
		name := morningCustomers[i].name
		m.open(path)
		m.do(chromedp.SendKeys(`[name=name]`, name), chromedp.SendKeys(`[name="o.password"]`, "secret"))
		if i == 0 {
			m.do(set("o.prices", "retail"), set("o.balance.mode", "postpaid"), chromedp.SendKeys(`[name="o.balance.limit"]`, "500"),
				chromedp.SendKeys(`[name="o.rate"]`, "50"), chrome.Click(`[name="o.block"][value=optouts]`))
		}
		m.do(press("Show what changes"), has("accounts["+name+"]: absent"), press("Put in force"), has("In force, as change"))
	}
}

// routes leads everything to the cheaper supplier, with a message that is tried before.
func (m *morning) routes() {
	m.open("/ui/routing")
	m.do(chrome.Click(`//a[text()="New route"]`), chromedp.WaitVisible(`//h1[text()="New route"]`), chromedp.SendKeys(`[name=name]`, "all"),
		set("o.policy", "cost"), set("o.to.connector", "north"))
	m.do(chromedp.Evaluate(`document.querySelectorAll('[name="o.to.connector"]')[1].value = "south"`, nil), set("try.to", "+46701000000"), set("try.account", "acme"),
		press("Show what changes"), has("routes[all]: absent"), chromedp.WaitVisible(`//pre[contains(text(), "south")]`))
	m.picture("new-route")
	m.do(press("Put in force"), has("In force, as change"))
}

// pays enters a payment.
func (m *morning) pays(account, amount string) {
	m.open("/ui/accounts/" + account)
	m.do(chromedp.SendKeys(`[name=amount]`, amount), chromedp.SendKeys(`[name=reference]`, "invoice 1"), press("Enter the payment"), has(amount+".00"))
}

// traffic sends what the customers send, and waits for its end.
func (m *morning) traffic(smscs map[string]*loadtest.Sink) {
	url, sent := "http://"+m.p.Listens("web"), int64(0)
	for _, c := range morningCustomers {
		for n, prefix := range []string{"46701", "46702", "4915"} {
			for i := range c.counts[n] {
				to := fmt.Sprintf("%s%06d", prefix, i)
				if code, text := post(m.t.Context(), http.DefaultClient, url, c.name, fmt.Sprintf(`{"from":"12345","to":%q,"text":"hello"}`, to), c.name+to); code != http.StatusAccepted {
					m.t.Fatal(code, text)
				}
				sent++
			}
		}
	}
	testutil.Eventually(m.t, "all is sent", func() bool {
		return smscs["north"].Result().Submits+smscs["south"].Result().Submits == sent
	})
}

// optOut finds a STOP by its number.
func (m *morning) optOut(smsc *loadtest.Sink) {
	ctx, cancel := context.WithTimeout(m.t.Context(), testutil.Patience)
	defer cancel()
	_ = smsc.Send(ctx, "46701000003", "12345", "STOP") // there is no route for it, but the list has it
	m.open("/ui/lists/optouts")
	m.do(chromedp.SendKeys(`[name=number]`, "+46 70 100 00 03"), press("Show"), has("It is on the list"))
	code, text := post(m.t.Context(), http.DefaultClient, "http://"+m.p.Listens("web"), "acme", `{"from":"12345","to":"46701000003","text":"hello"}`, "stopped")
	if code != http.StatusForbidden || !strings.Contains(text, "opted-out") {
		m.t.Errorf("%d %s", code, text)
	}
}

// changesPrice puts another price in force, which one message pays.
func (m *morning) changesPrice() {
	m.upload("retail", "retail-2", "1 up")
	if code, text := post(m.t.Context(), http.DefaultClient, "http://"+m.p.Listens("web"), "acme", `{"from":"12345","to":"46701000005","text":"hello"}`, "dear"); code != http.StatusAccepted {
		m.t.Error(code, text)
	}
}

// looksAtMoney looks at margins and at the statement, and prints it.
func (m *morning) looksAtMoney() {
	var s statement.Statement
	testutil.Eventually(m.t, "the statement has all", func() bool {
		m.asks("statement?account=acme", &s)
		return s.Messages == 11
	})
	// 7 and 1 to Telia by the south, 2 to Tre by the north, 1 to Germany by the south
	if got := fmt.Sprintln(s.Charged, s.Paid, s.Closing, s.Currency, len(s.Lines)); got != "0.534 100.00 99.466 EUR 4\n" {
		m.t.Errorf("the statement has %s: %+v", got, s)
	}
	var sums []struct{ Account, Charged, Cost string }
	testutil.Eventually(m.t, "statistics have all", func() bool {
		m.asks("stats?by=account", &sums)
		return slices.Contains(sums, struct{ Account, Charged, Cost string }{"acme", "0.534", "0.331"}) // of 8 at 0.028, 2 at 0.031, 1 at 0.045
	})
	m.open("/ui/statistics?by=account")
	m.do(has("margin"), has("amounts are in EUR"), has("0.203"))
	m.picture("margins")
	m.open("/ui/whatif?try=1&month=" + time.Now().UTC().Format("2006-01"))
	m.do(has("0 of them would have gone another way"))
	m.picture("whatif")
	m.open("/ui/accounts")
	m.do(has("99.466 EUR"), has("0.203 EUR"))
	m.picture("accounts")
	m.open("/ui/statement?account=acme")
	m.do(has("99.466"))
	m.picture("statement")
	var pdf []byte
	m.do(chromedp.ActionFunc(func(ctx context.Context) (err error) { pdf, _, err = page.PrintToPDF().Do(ctx); return err }))
	if !strings.HasPrefix(string(pdf), "%PDF-") {
		m.t.Errorf("%.100q", pdf)
	}
	m.write("statement.pdf", pdf)
}

// asks requests v as a script of the page would.
func (m *morning) asks(path string, v any) {
	m.t.Helper()
	var text string
	m.do(chromedp.Evaluate(fmt.Sprintf(`fetch("/admin/v1/%s").then(r => r.text())`, path), &text, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if err := json.Unmarshal([]byte(text), v); err != nil {
		m.t.Fatal(err, text)
	}
}

func (m *morning) picture(name string) {
	if *morningPapers == "" {
		return
	}
	var png []byte
	m.do(chromedp.EmulateViewport(1280, 900), chromedp.FullScreenshot(&png, 100))
	m.write(name+".png", png)
}

func (m *morning) write(name string, data []byte) {
	if *morningPapers == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*morningPapers, name), data, 0o600); err != nil {
		m.t.Error(err)
	}
}
