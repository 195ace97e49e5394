package e2e

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/crypto/bcrypt"

	"pmg/gateway/operate"
	"pmg/gateway/privacy"
	"pmg/internal/testkit/testutil"
)

// inboxSite is a site whose account people gets the messages of mobiles by its inbox, and a client if bind allows one.
func inboxSite(t *testing.T, bind string) site {
	hash, err := bcrypt.GenerateFromPassword([]byte("of a person"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return site{
		operator: newSMSC(t), store: vfs.NewCrashableMem(),
		more:     `{name: api, direction: in, protocol: http, address: "127.0.0.1:0", portal: true}`,
		accounts: fmt.Sprintf(`{system_id: people, password: s3cret, %s, inbox: 240h, users: [{name: ann, password: %q, scope: send}]}`, bind, hash),
		routes:   "{from: operator, to: {account: people}}\n{to: operator}",
	}
}

// A browser is that of ann, who has logged in.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func (g *gw) browser() *browser {
	g.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		g.t.Fatal(err)
	}
	tr := &http.Transport{}
	g.t.Cleanup(tr.CloseIdleConnections)
	b := &browser{g.t, "http://" + g.addr("api") + "/portal/", &http.Client{Jar: jar, Transport: tr}}
	b.post("login", "account", "people", "name", "ann", "password", "of a person")
	return b
}

func (b *browser) post(path string, fields ...string) string {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.page(b.http.PostForm(b.base+path, form))
}

func (b *browser) get(path string) string {
	b.t.Helper()
	return b.page(b.http.Get(b.base + path))
}

// page returns the text of a page.
func (b *browser) page(r *http.Response, err error) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		b.t.Fatalf("%d, %v: %s", r.StatusCode, err, text)
	}
	return html.UnescapeString(string(text))
}

// wants checks how often texts are on the page Inbox.
func (b *browser) wants(n int, texts ...string) string {
	b.t.Helper()
	page := b.get("inbox?all=1")
	for _, text := range texts {
		if got := strings.Count(page, text); got != n {
			b.t.Errorf("%q is there %d times, not %d: %s", text, got, n, page)
		}
	}
	return page
}

// A message from a mobile is in the inbox when the SMSC is answered, once, after a power cut too; its account needs no client. Somebody
// replies on the page, and the SMSC gets the reply. A long message is one text.
func TestInbox(t *testing.T) {
	parallel(t)
	s := inboxSite(t, "bind: [transmitter]")
	g := start(t, s)
	smsc := s.operator.session()
	smsc.send(`deliver_sm seq=7 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="are you open?"`)
	smsc.want("deliver_sm_resp", "seq=7", "status=0")
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	g.settled() // the inbox alone gets it
	b := g.browser()
	page := b.wants(1, "are you open?")
	for i, text := range []string{"second half", "first half, "} {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr_ton=1 source_addr=46700000002 destination_addr=1234 esm_class=64 short_message="\x05\x00\x03\x07\x02\x0%d%s"`, 20+i, 2-i, text))
		smsc.want("deliver_sm_resp", "status=0")
	}
	b.wants(1, "are you open?", "first half, second half")
	link := regexp.MustCompile(`/portal/(send\?reply=[0-9a-f]+)" aria-label="Reply to \+46700000001"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatal(page)
	}
	form := b.get(link[1])
	value := func(name string) string {
		found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(form)
		if found == nil {
			t.Fatalf("no field %s: %s", name, form)
		}
		return found[1]
	}
	b.post("send", "from", value("from"), "to", value("to"), "once", value("once"), "reply", value("reply"), "text", "six")
	line := smsc.want("submit_sm", "source_addr=1234", "destination_addr=46700000001", `short_message="six"`)
	smsc.answer(0, field(line, "seq"))
	testutil.Eventually(t, "it is answered", func() bool {
		return strings.Contains(b.get("inbox?all=1"), ">answered<") && !strings.Contains(b.get("inbox"), "are you open?")
	})
	g.settled()
	of, err := privacy.ParseNumbers([]string{"+46700000001"})
	if err == nil {
		_, err = g.Places(of).Forget(t.Context(), of, false, func(string) {})
	}
	if err != nil {
		t.Error(err)
	}
	b.wants(0, "are you open?")
	b.wants(1, "first half, second half")
}

// The inbox has a message as well as the client that gets it, before and after. What could not be stored, and was refused, is not in
// the inbox, also if it is on the disk; when the SMSC sends it again it is there once.
func TestInboxBeside(t *testing.T) {
	parallel(t)
	f := &failing{}
	s := inboxSite(t, "bind: [transmitter, receiver]")
	s.wrap = f.wrap
	g := start(t, s)
	smsc := s.operator.session()
	b := g.browser()
	send := func(seq int) {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 short_message="both"`, seq))
	}
	f.fail.Store(true)
	send(1)
	smsc = s.operator.session() // whether the message is stored is not known, so it is not answered
	f.fail.Store(false)
	testutil.Eventually(t, "the next commit has undone it", func() bool { return g.synced() })
	b.wants(0, "both")
	send(2)
	smsc.want("deliver_sm_resp", "status=0")
	b.wants(1, "both")
	client := g.dial("clients")
	client.bind("receiver", "people", "s3cret")
	line := client.want("deliver_sm", `short_message="both"`)
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	g.settled()
	b.wants(1, "both")
}

// A message that was parked is in the inbox when an operator has moved it to the account: for clients and the inbox, and for the inbox
// alone. A route by the connector at which the account may log in leads there, too.
func TestInboxMoved(t *testing.T) {
	parallel(t)
	for bind, lanes := range map[string]string{"connectors: [api]": "{from: operator, to: api}", "bind: [transmitter, receiver]": "{from: operator, to: clients}"} {
		s := inboxSite(t, bind+`, receives: ["12"]`)
		routes := s.routes
		s.top, s.routes = "no_route: park\n", `{to: operator, destination: "99"}`
		g := start(t, s)
		smsc := s.operator.session()
		smsc.send(`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 short_message="parked"`)
		smsc.want("deliver_sm_resp", "status=0")
		b := g.browser()
		b.wants(0, "parked")
		s.routes = lanes + "\n" + routes
		g.mustReload(s)
		g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateParked}, operate.ResultRetried)
		testutil.Eventually(t, "it has come", func() bool { return strings.Contains(b.get("inbox"), "parked") })
		smsc.send(`deliver_sm seq=2 source_addr=46700000001 destination_addr=1234 short_message="direct"`)
		smsc.want("deliver_sm_resp", "status=0")
		b.wants(1, "parked", "direct")
		if bind == "connectors: [api]" {
			g.settled()
		}
	}
}
