package portal

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pmg/config"
	"pmg/gateway/inbox"
	"pmg/sms"
)

// replies are the links of the page Inbox to the form that replies.
var replies = regexp.MustCompile(`/portal/(send\?reply=[0-9a-f]{16})"`)

// hidden returns the value of a hidden field of a page.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no field %s: %s", name, page)
	}
	return found[1]
}

// A user sees what mobiles have sent, replies to it, and sees it as answered. Nobody sees or answers what another account has got, nor
// without the scope send, which texts need.
func TestInbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, strings.ReplaceAll(accounts(", inbox: 240h"), "{system_id: rival, ", "{system_id: rival, inbox: 240h, "), "", "")
	b, rival, look := r.user("shop", config.SendScope), r.user("rival", config.SendScope), r.user("shop", config.LookScope)
	b.has("inbox", "No unanswered message is there.")
	r.SMSC.Deliver("is it <b>open</b>?")
	page := b.has("inbox", "is it &lt;b&gt;open&lt;/b&gt;?", "46700000001", ">1234<").body
	link := replies.FindStringSubmatch(page)
	if link == nil {
		t.Fatal(page)
	}
	if w := rival.has("inbox?all=1", "No message is there."); strings.Contains(w.body, "open") {
		t.Error(w.body)
	}
	if w := rival.get(link[1]); w.code != 404 || strings.Contains(w.body, "46700000001") {
		t.Errorf("%+v", w)
	}
	if w := look.get("inbox"); w.code != 403 || strings.Contains(w.body, "open") || strings.Contains(look.get("").body, "/portal/inbox") {
		t.Errorf("%+v", w)
	}
	form := b.has(link[1], `name="from" value="1234"`, `name="to" value="&#43;46700000001"`).body
	form = html.UnescapeString(form)
	fields := []string{"from", "1234", "to", hidden(t, form, "to"), "once", hidden(t, form, "once"), "reply", hidden(t, form, "reply"), "text", "yes"}
	rival.post("send", append([]string{}, fields...)...)
	r.SMSC.Accept("of-the-rival")
	b.post("send", "to", "+46700000002", "from", "1234", "text", "another", "reply", hidden(t, form, "reply"))
	r.SMSC.Accept("to-another")
	b.has("inbox", "open", "Reply") // neither has answered it
	if w := b.post("send", append(fields, "preview", "1")...); hidden(t, w.body, "reply") != hidden(t, form, "reply") {
		t.Errorf("%+v", w)
	}
	w := b.post("send", fields...)
	if w.code != 303 {
		t.Fatalf("%+v", w)
	}
	r.SMSC.Accept("reply")
	id := strings.TrimPrefix(w.header.Get("Location"), Base+"messages/")
	if err := r.Gateway.Keeper.Batches.Sync(); err != nil {
		t.Error(err)
	}
	b.has("inbox", "No unanswered message is there.")
	b.has("inbox?all=1", "open", `<a href="/portal/messages/`+id+`">answered</a>`)
	if lines := strings.Join(r.records.lines, "\n"); strings.Contains(lines, "open") || strings.Contains(lines, "46700") {
		t.Errorf("%s", lines)
	}
	r.Reload(strings.ReplaceAll(r.yaml, ", inbox: 240h", ", pull: true"))
	b.has("inbox", "has no inbox")
	if w := b.get(link[1]); w.code != 404 {
		t.Errorf("%+v", w)
	}
	for _, id := range []string{"x", "0000000000000001", strings.Repeat("f", 16), strings.Repeat("f", 5000)} {
		if w := b.get("send?reply=" + id); w.code != 404 {
			t.Errorf("%.20s: %d", id, w.code)
		}
	}
}

// filled is an inbox with texts of an account.
type filled struct {
	Inbox
	all []inbox.Message
	err error
}

// List implements Inbox.
func (f *filled) List(account string) ([]inbox.Message, error) {
	if account != "shop" {
		return nil, errors.New("another account")
	}
	return f.all, f.err
}

// A page has 50 texts; the next one begins behind them, with the same search: by a part of the number, or the number in any form.
func TestInboxPages(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", inbox: 240h"), "", "")
	f := &filled{}
	for i := range 120 {
		m := inbox.Message{ID: uint64(1000 - i), Text: fmt.Sprintf("text %d.", i), From: "+46700000001", To: "1234", Person: true}
		switch {
		case i%2 == 1:
			m.From, m.Person = "ACME", false
		case i == 2:
			m.Answer = 7
		case i == 4:
			m.Missing = 2
		}
		f.all = append(f.all, m)
	}
	r.site.portal.rooms.Inbox = f
	b := r.user("shop", config.SendScope)
	next := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`)
	texts := regexp.MustCompile(`text [0-9]+\.`)
	for query, want := range map[string]string{
		"": "50 50 19", "?all=1": "50 50 20", "?q=acme": "50 10", "?q=0046700000001": "50 9", "?all=1&q=00000001": "50 10", "?q=12": "50 50 19", "?q=4670000000": "50 9", "?q=nobody": "0",
		"?before=" + sms.FormatID(882): "1", "?before=x": "50 50 19",
	} {
		var got []string
		seen := map[string]bool{}
		for page := "inbox" + query; ; {
			w := b.has(page)
			all := texts.FindAllString(w.body, -1)
			got = append(got, fmt.Sprint(len(all)))
			for _, text := range all {
				if seen[text] {
					t.Errorf("%s: %s is there twice", query, text)
				}
				seen[text] = true
			}
			found := next.FindStringSubmatch(w.body)
			if found == nil {
				break
			}
			page = "inbox" + html.UnescapeString(found[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, not %s", query, got, want)
		}
	}
	w := b.has("inbox?all=1", "parts that have not come: 2", `href="/portal/messages/`+sms.FormatID(7)+`"`)
	if n := len(replies.FindAllString(w.body, -1)); n != 25 {
		t.Errorf("%d replies, not those to persons", n)
	}
	f.err = errors.New("cannot read /var/lib/pmg")
	if w := b.get("inbox"); w.code != 503 || strings.Contains(w.body, "/var/lib") {
		t.Errorf("%+v", w)
	}
	if w := b.get("inbox?" + url.Values{"q": {strings.Repeat("1", 3000)}}.Encode()); w.code != 503 {
		t.Errorf("%d", w.code)
	}
}
