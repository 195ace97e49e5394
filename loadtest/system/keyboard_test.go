package system

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pmg/internal/passhash"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

const keyboardConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
managed: {dir: %q}
receipts: {callback_validity: 1m}
connectors:
  - {name: web, protocol: http, direction: in, address: "127.0.0.1:0", portal: true}
  - {name: smsc, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, window: 100}
routes: [{from: smsc, to: {account: acme}}, {to: smsc}]
`

const keyboardAccount = `
system_id: acme
password: s3cret
rate: 5000
inbox: 720h
webhook: %[1]s/broken
callback_urls: ["%[1]s/"]
users: [{name: ann, password: %[2]q, scope: manage}]
`

// A customer is somebody with a keyboard alone.
type customer struct {
	*chrome.Browser
	t      *testing.T
	secret string // of the second factor
	step   int64  // of the last code
}

// A customer's life by keyboard alone, in light colours on a wide screen and in dark ones on a phone's: a second factor, a message, a
// mailing of 10,000 with its progress, a text from a mobile that is answered, a webhook that is repaired and whose event is sent again,
// a key and its successor. Each control that has the focus shows it, and is in sight.
func TestKeyboard(t *testing.T) {
	testutil.Long(t)
	for _, c := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 390}} {
		t.Run(c.scheme, func(t *testing.T) {
			t.Parallel()
			b := chrome.Start(t)
			b.Do(emulation.SetDeviceMetricsOverride(c.width, 800, 1, c.width < 600),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.scheme}}))
			(&customer{Browser: b, t: t}).lives()
		})
	}
}

func (c *customer) lives() {
	t := c.t
	smsc, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Receipts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer smsc.Close()
	var taken atomic.Int64
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		taken.Add(1)
	}))
	defer shop.Close()
	dir := t.TempDir()
	managed := filepath.Join(dir, "managed")
	if err := os.MkdirAll(filepath.Join(managed, "accounts"), 0o700); err != nil {
		t.Fatal(err)
	}
	account := fmt.Sprintf(keyboardAccount, shop.URL, passhash.New([]byte("correct horse")))
	if err := os.WriteFile(filepath.Join(managed, "accounts", "acme.yaml"), []byte(account), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program(t).Serve(t, process.WriteConfig(t, fmt.Sprintf(keyboardConfig, process.NewStoreDir(t), managed, smsc.Addr())))
	_, port, _ := net.SplitHostPort(p.Listens("web"))
	c.Do(chromedp.Navigate("http://localhost:" + port + "/"))
	c.logIn()
	c.setsUp()
	c.sends()
	c.mails(dir, smsc)
	c.answers(smsc)
	c.repairs(shop.URL, &taken)
	c.rolls()
	c.Silent()
}

// heading waits for a page.
func (c *customer) heading(title string) {
	c.t.Helper()
	c.Do(chromedp.WaitVisible(`//h1[text()="` + title + `"]`))
}

// open goes to a page by the menu, whose link is found from the top of the page.
func (c *customer) open(links ...string) {
	c.t.Helper()
	for _, link := range links {
		c.Press(link)
		c.heading(link)
	}
}

// code returns a code of the second factor, of RFC 6238, that was not used yet.
func (c *customer) code() string {
	key, err := base32.StdEncoding.DecodeString(c.secret)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.step = max(c.step+1, time.Now().Unix()/30-1); c.step > time.Now().Unix()/30+1 {
		c.t.Fatal("the codes are used up")
	}
	m := hmac.New(sha1.New, key)
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(c.step)))
	sum := m.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

func (c *customer) logIn() {
	c.t.Helper()
	c.heading("Log in")
	c.Type("Account", "acme")
	c.Type("Name", "ann")
	c.Type("Password", "correct horse")
	c.Do(chromedp.KeyEvent(kb.Enter))
}

// setsUp switches the second factor on, and logs in with it.
func (c *customer) setsUp() {
	c.heading("Overview")
	c.open("Password", "Second factor")
	c.Do(chromedp.Text(`//p[starts-with(text(), "Secret")]/code`, &c.secret))
	c.Press("Skip to content")
	c.Type("Code", c.code())
	c.Type("Current password", "correct horse")
	c.Press("Switch it on")
	c.Do(chromedp.WaitVisible(`//li/code`))
	c.Press("Log out")
	c.logIn()
	c.Do(chromedp.WaitVisible(`input[name=code]`))
	c.Type("Code of your authenticator, or a recovery code", c.code())
	c.Do(chromedp.KeyEvent(kb.Enter))
	c.heading("Overview")
}

// sends submits one message, whose receipt the webhook does not take.
func (c *customer) sends() {
	c.open("Send")
	c.Type("From", "Shop")
	c.Type("To", "+46701740600")
	c.Type("Text", "hello")
	c.Press("Show parts and price")
	c.Do(chromedp.WaitVisible(`//p[contains(text(), "Not sent yet. 1 short message")]`))
	c.Tab("Text")
	c.Press("Send")
	c.heading("Message")
}

// mails sends a mailing, and looks at its progress.
func (c *customer) mails(dir string, smsc *loadtest.Sink) {
	file := filepath.Join(dir, "recipients.csv")
	var rows strings.Builder
	rows.WriteString("to,name\n")
	for i := range 10_000 {
		fmt.Fprintf(&rows, "+46701%06d,Customer %d\n", i, i)
	}
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.open("Send", "Mailing")
	c.Type("From", "Shop")
	c.Choose("Recipients", file)
	c.Type("Text", "Hello {name}")
	c.Press("Check the messages")
	c.Do(chromedp.WaitVisible(`//dd[text()="checked"]`))
	c.Press("Send to 10,000 recipients")
	c.Do(chromedp.WaitVisible(`//dd[text()="ended"]`))
	c.Do(chromedp.WaitVisible(`//dt[text()="accepted"]/following-sibling::dd[text()="10,000"]`))
	testutil.Eventually(c.t, "all are at the SMSC", func() bool { return smsc.Result().Accepted == 10_001 })
}

// answers replies to a text from a mobile.
func (c *customer) answers(smsc *loadtest.Sink) {
	ctx, stop := context.WithTimeout(c.t.Context(), testutil.Patience)
	defer stop()
	if err := smsc.Send(ctx, "46701740600", "12345", "are you open?"); err != nil {
		c.t.Fatal(err)
	}
	c.open("Inbox")
	c.Do(chromedp.WaitVisible(`//td[text()="are you open?"]`))
	c.Press("Reply to +46701740600")
	c.heading("Send")
	c.Type("Text", "until six")
	c.Press("Send")
	c.heading("Message")
	c.open("Inbox")
	c.Do(chromedp.WaitVisible(`//p[contains(text(), "No unanswered message")]`))
}

// repairs looks why the webhook is not called, enters another URL, and queues the lost event again.
func (c *customer) repairs(shop string, taken *atomic.Int64) {
	c.open("Webhooks")
	c.Do(chromedp.WaitVisible(`//td[contains(text(), "500")]`))
	testutil.Eventually(c.t, "events are given up", func() bool {
		var text string
		c.Do(chromedp.Reload(), chromedp.WaitVisible(`//h2[text()="Servers"]`), chromedp.Text("main", &text))
		return strings.Contains(text, "were given up")
	})
	c.Type("URL", shop+"/sms")
	c.Press("Change the webhook")
	c.Do(chromedp.WaitVisible(`//dd[text()="` + shop + `/sms"]`))
	c.Press("Send a test event")
	c.Do(chromedp.WaitVisible(`//p[contains(text(), "The test event was taken, status 200")]`))
	before := taken.Load()
	c.Press("Queue them again")
	c.Do(chromedp.WaitVisible(`//p[contains(text(), "Events queued again")]`))
	testutil.Eventually(c.t, "the event has come", func() bool { return taken.Load() > before })
}

// rolls makes a key, its successor, and revokes the first.
func (c *customer) rolls() {
	c.open("Keys")
	for _, name := range []string{"crm", "crm-2"} {
		c.Type("Name", name)
		c.Press("Make a key")
		c.Do(chromedp.WaitVisible(`//tbody/tr/th[text()="` + name + `"]`))
	}
	c.Press("Revoke key crm")
	c.Do(chromedp.WaitVisible(`//p[text()="Key crm is revoked."]`))
}
