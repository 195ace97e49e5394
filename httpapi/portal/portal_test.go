package portal

import (
	"regexp"
	"strings"
	"testing"
)

// sendText sends a message by the pages, and returns its id.
func (b *person) sendText(to, text string) string {
	b.t.Helper()
	w := b.post("send", "from", "Shop", "to", to, "text", text)
	id, ok := strings.CutPrefix(w.header.Get("Location"), Base+"messages/")
	if w.code != 303 || !ok {
		b.t.Fatalf("%+v", w)
	}
	return id
}

// A user sends a message, after a look at what it would cost, and sees its receipt. It counts as one of the account's. The form that
// comes again sends nothing more.
func TestSend(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", rate: 100"), "", "public_name: express")
	b := r.user("shop", "send")
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(b.has("send", "<h1>Send</h1>").body)[1]
	form := []string{"from", "Shop", "to", "+46700000001", "text", strings.Repeat("long ", 40), "once", once}
	if w := b.post("send", append(form, "preview", "1")...); w.code != 200 || !strings.Contains(w.body, "Not sent yet. 2 short messages (gsm7), by express.") || !r.SMSC.Idle() {
		t.Errorf("%+v", w)
	}
	w := b.post("send", form...)
	page := strings.TrimPrefix(w.header.Get("Location"), Base)
	if w.code != 303 || !strings.HasPrefix(page, "messages/0") {
		t.Fatalf("%+v", w)
	}
	if again := b.post("send", form...); again.header.Get("Location") != w.header.Get("Location") {
		t.Errorf("%+v", again)
	}
	for _, id := range []string{"s1", "s2"} {
		r.SMSC.Accept(id)
	}
	if !r.SMSC.Idle() {
		t.Error("it was sent twice")
	}
	b.has(page, "The message was accepted.", "46700000001", "Shop")
	if w := b.has(page, "46700000001"); strings.Contains(w.body, "was accepted.") {
		t.Error("a notice is shown twice")
	}
	form[5] = "another text"
	if again := b.post("send", form...); again.code != 422 || !strings.Contains(again.body, "sent before") || strings.Contains(again.body, once) {
		t.Errorf("%+v", again)
	}
	r.Settled()
	b.has("messages", page)
	b.has("messages?q=46700000001", page)
	b.has("messages?q="+strings.TrimPrefix(page, "messages/"), page)
	b.has("messages?q=46700000009", "No message")
	b.has("messages?since=2037-01-01", "No message")
	b.has("statistics", "Nothing is counted by day.")
	b.has("messages?since=x", "since: ")
	b.has("", "<dt>accepted</dt><dd>2</dd>", "Messages a second</dt><dd>100</dd>")
	if !r.records.has("user send of account shop 127.0.0.1 portal/send map[id:" + strings.TrimPrefix(page, "messages/") + "]: ok\n") {
		t.Error(r.records.lines)
	}
	for _, c := range []struct{ to, text, want string }{
		{"x", "a", "invalid number"}, {"", "a", "to must be given"}, {"+46700000001", "", "text"},
	} {
		if w := b.post("send", "from", "Shop", "to", c.to, "text", c.text); w.code != 422 || !strings.Contains(w.body, `<p class="notice failed" role="alert">`) {
			t.Errorf("%+v: %+v", c, w)
		}
	}
	id := strings.TrimPrefix(page, "messages/")
	if lines := r.lines(); !strings.Contains(lines, "status=0(202-Accepted) id="+id+" account=shop\n") || strings.Contains(lines, password) {
		t.Error(lines) // what has another status is taken for a refusal
	}
}
