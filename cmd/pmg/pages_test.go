package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"pmg/internal/passhash"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
)

var screenshots = flag.String("screenshots", "", "directory into which TestNight writes pictures of the operators' pages")

const nightConfig = `
admin: {address: "127.0.0.1:0", users: [{name: anna, password: %q, scope: administer}]}
pdulog: {dir: %q, flush: 10ms}
store: {dir: %q, ballast: 0B}
accounts:
  - {system_id: bank, password: secret, max_sessions: 8}
  - {system_id: shop, password: secret, bind: [transmitter], webhook: %q, rate: 50}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0", throttle_pause: 1ms, retry: {temporary: [50ms, repeat]}}
  - {name: north, direction: out, address: %q, system_id: pmg, password: secret, instances: 2, window: 50, rate: 500}
  - {name: south, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: true}
routes:
  - {to: south, destination: "49"}
  - {to: north}
lists: [{name: optouts, file: %q, opt_out_from: north, opt_out_to: ["12345"]}]
`

// optOuts writes a list with changes beside it, and returns its name.
func optOuts(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "optouts.txt")
	at := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339) }
	changes := "+46701740605\t" + at(50*time.Hour) + "\tstop\tnorth\t18c2a91f3e70d4b2\n+46731234567\t" + at(30*time.Hour) + "\tstop\tnorth\t18c2a91f3e70d7f0\n" +
		"-46701740605\t" + at(9*time.Hour) + "\tpage\tuser anna\t\tasked by phone\n+46701740605\t" + at(2*time.Hour) + "\tstop\tnorth\t18c2a91f3e70e1aa\n"
	err := errors.Join(os.WriteFile(file, []byte("46709174060\n"), 0o600), os.WriteFile(file+".changes", []byte(changes), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A night is a gateway with some traffic, a server of a client that is down, and the browser of the one on duty.
type night struct {
	*runningServer
	browser *chrome.Browser
	down    atomic.Bool // the client's server
	told    atomic.Int64
}

// chartTime is how long the gateway runs before pictures are made of its charts.
const chartTime = 150 * time.Second

// startNight starts it, and the login of the one on duty.
func startNight(t *testing.T) *night {
	t.Helper()
	n := new(night)
	n.down.Store(true)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		n.told.Add(1)
	}))
	t.Cleanup(hook.Close)
	sink := smpppeer.StartSMSC(t, "secret", true)
	n.runningServer = runServer(t, fmt.Sprintf(nightConfig, passhash.New([]byte("correct horse")), t.TempDir(), process.NewStoreDir(t), hook.URL+"/hook", sink.Addr(), optOuts(t)))
	n.load(200)
	if *screenshots != "" {
		time.Sleep(chartTime)
	}
	n.browser = chrome.Start(t)
	n.browser.Do(chromedp.EmulateViewport(1280, 960), chromedp.Navigate("http://"+n.admin.Addr()+"/ui/"))
	n.browser.LogIn("anna", "correct horse")
	return n
}

// address returns where a connector listens.
func (n *night) address(connector string) string {
	return n.engine.Addresses(n.gateway.Table.Connector(connector))[0].String()
}

// load sends messages until the end of the test, so many a second.
func (n *night) load(rate float64) {
	n.t.Helper()
	c := smpppeer.Client{Addr: n.address("clients"), SystemID: "bank", Password: "secret", Receipts: true, Before: func(int) { time.Sleep(time.Duration(float64(time.Second) / rate)) }}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Send(ctx, math.MaxInt32)
	}()
	n.t.Cleanup(func() { stop(); <-done })
}

// send sends a message of the account shop, and returns its id.
func (n *night) send(to string) string {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), http.MethodPost, "http://"+n.address("api")+"/v1/messages", strings.NewReader(`{"from":"Shop","to":"`+to+`","text":"Your parcel has come","client_reference":"parcel 7"}`))
	if err != nil {
		n.t.Fatal(err)
	}
	r.SetBasicAuth("shop", "secret")
	r.Close = true
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer a.Body.Close()
	var answer struct{ ID string }
	if err := json.NewDecoder(a.Body).Decode(&answer); err != nil || answer.ID == "" {
		n.t.Fatalf("%s: %v", a.Status, err)
	}
	return answer.ID
}

// open shows a page.
func (n *night) open(path, heading string) {
	n.t.Helper()
	n.browser.Do(chromedp.Navigate("http://"+n.admin.Addr()+path), chromedp.WaitVisible(`//h1[text()="`+heading+`"]`))
}

// shoot writes a picture of the page, if pictures are wanted.
func (n *night) shoot(name string, actions ...chromedp.Action) {
	n.t.Helper()
	if *screenshots == "" {
		return
	}
	var picture []byte
	n.browser.Do(append(actions, chromedp.CaptureScreenshot(&picture))...)
	small, err := fewColors(picture)
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), small, 0o600)
	}
	if err != nil {
		n.t.Error(err)
	}
}

// fewColors returns a picture with its 256 most frequent colors, the next of which the others become: a third of the octets.
func fewColors(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	counts, bounds := map[color.Color]int{}, from.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[from.At(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	to := image.NewPaletted(bounds, frequent[:min(len(frequent), 256)])
	at := map[color.Color]uint8{}
	for c := range counts {
		at[c] = uint8(to.Palette.Index(c))
	}
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			to.SetColorIndex(x, y, at[from.At(x, y)])
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to)
	return b.Bytes(), err
}

func inColors(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// Somebody on duty sees the traffic move, finds a dead letter of a client's webhook and replays it, and searches for
// its message. Then she holds and releases a connector, moves the messages of one that is down, and puts a new
// configuration in force. All this is done in a browser, which reports no error.
func TestNight(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	n := startNight(t)
	b := n.browser
	cfg := *n.gateway.Node.Config()
	cfg.Receipts.CallbackValidity = time.Second
	n.gateway.Node.SetConfig(&cfg)
	id := n.send("+46709999999")
	n.send("+49700000001") // no session to there

	n.open("/ui/", "Overview")
	b.Do(chromedp.Poll(`Number(document.querySelector('[data-k=in]').textContent) > 50`, nil, chromedp.WithPollingTimeout(time.Minute)))
	n.shoot("overview")
	n.shoot("overview-dark", inColors("dark"))
	b.Do(inColors("light"))

	n.open("/ui/webhooks", "Webhooks")
	b.Do(chrome.Click(`//a[text()="shop"][ancestor::table]`), chromedp.WaitVisible(`//h1[text()="Webhooks of shop"]`))
	testutil.Eventually(t, "there is a dead letter", func() bool { return n.gateway.Settler.Dead.Counts()["shop"] == 1 })
	b.Do(chromedp.WaitVisible(`//td[a="` + id + `"][ancestor::table[caption[starts-with(text(), "Dead")]]]`))
	n.shoot("webhooks-name")
	n.down.Store(false)
	b.Do(chrome.Click(`button[aria-label^="Replay evt_"]`), chromedp.WaitVisible(`//p[@role="status"][contains(text(), "1 retried")]`))
	testutil.Eventually(t, "the client's server was told", func() bool { return n.told.Load() == 1 })
	b.Do(chromedp.WaitVisible(`//span[@data-k="dead"][text()="0"]`))

	n.open("/ui/messages", "Messages")
	b.Do(chromedp.SendKeys(`input[name=q]`, "+46709999999"), chromedp.Submit(`input[name=q]`), chromedp.WaitVisible(`//tbody//a[text()="`+id+`"]`))
	n.shoot("messages")
	b.Do(chrome.Click(`//tbody//a[text()="`+id+`"]`), chromedp.WaitVisible(`//h1[text()="Message `+id+`"]`), chromedp.WaitVisible(`//td[contains(text(), "submit_sm")]`),
		chromedp.WaitVisible(`//h2[text()="Calls of the client's server"]`))
	n.shoot("messages-id")

	n.open("/ui/connectors/north", "Connector north")
	b.Do(chrome.Click(`button[aria-label="Hold north"]`), chromedp.WaitVisible(`[data-k=state][data-v=held]`),
		chromedp.Poll(`Number(document.querySelector('[data-k=queued]').textContent.replaceAll(',', '')) > 100`, nil, chromedp.WithPollingTimeout(time.Minute)))
	n.shoot("connectors-name")
	b.Do(chrome.Click(`button[aria-label="Release north"]`), chromedp.WaitNotPresent(`[data-k=state][data-v=held]`),
		chromedp.Poll(`Number(document.querySelector('[data-k=queued]').textContent.replaceAll(',', '')) < 100`, nil, chromedp.WithPollingTimeout(time.Minute)))

	south := func() int64 { return n.gateway.Table.Connector("south").Stats.Queued.Load() }
	n.open("/ui/connectors/south", "Connector south")
	b.Do(chromedp.WaitVisible(`//span[@data-k="queued"][text()="1"]`), chrome.Click(`//button[text()="Move"]`), chromedp.WaitVisible(`//p[@role="status"][contains(text(), "1 moved")]`))
	testutil.Eventually(t, "nothing waits for the connector any more", func() bool { return south() == 0 })

	text, err := os.ReadFile(n.file)
	if err != nil {
		t.Fatal(err)
	}
	n.write(strings.Replace(string(text), "rate: 50", "rate: 60", 1))
	n.open("/ui/configuration", "Configuration")
	b.Do(chrome.Click(`//button[text()="Reload the configuration"]`), chromedp.WaitVisible(`//p[@role="status"][contains(text(), "rate")]`))
	if rate := n.gateway.Table.Account("shop").Rate; rate != 60 {
		t.Errorf("the rate is %d", rate)
	}
	n.shootAll()
	b.Silent()
}

// shootAll makes pictures of the pages that TestNight does not look at.
func (n *night) shootAll() {
	if *screenshots == "" {
		return
	}
	for _, p := range [][2]string{
		{"connectors", "Connectors"}, {"accounts", "Accounts"}, {"accounts/bank", "Account bank"}, {"sessions", "Sessions"}, {"webhooks", "Webhooks"}, {"receipts", "Receipts"}, {"queues", "Queues"},
		{"try", "Try"}, {"routing?to=%2B46700000001&account=shop", "Routing"}, {"pdulog?connector=north", "PDU log"}, {"gateway", "Gateway"}, {"configuration", "Configuration"},
		{"lists", "Lists"}, {"lists/optouts?number=%2B46701740605", "List optouts"},
	} {
		n.open("/ui/"+p[0], p[1])
		name, _, _ := strings.Cut(p[0], "?")
		n.shoot(strings.NewReplacer("/bank", "-name", "/optouts", "-name").Replace(name), chromedp.Sleep(time.Second))
	}
}
