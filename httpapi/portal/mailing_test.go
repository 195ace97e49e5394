package portal

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/request"
	"pmg/protocols/httpsms/own"
	"pmg/sms/numbers"
)

// mail uploads a file of recipients with a text.
func (b *person) mail(file, text string) reply { return b.mailAt("", file, text) }

// mailAt uploads a file of recipients with a text, and the time before which it does not leave.
func (b *person) mailAt(at, file, text string) reply {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", "recipients.csv")
	if err == nil {
		_, err = part.Write([]byte(file))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	_, _, _ = w.WriteField("from", "Shop"), w.WriteField("text", text), w.WriteField("at", at)
	_ = w.Close()
	r, err := http.NewRequestWithContext(b.t.Context(), "POST", b.base+mailingPath, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	return b.done(r)
}

// until waits until the page of a mailing has a text.
func (b *person) until(page, text string) string {
	b.t.Helper()
	for range 1000 {
		if w := b.get(page); strings.Contains(w.body, text) {
			return w.body
		} else if w.code != 200 {
			b.t.Fatalf("%s: %+v", page, w)
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("%s never has %q: %s", page, text, b.get(page).body)
	return ""
}

// A user uploads recipients, sees what their messages become and cost and the first texts, and sends them; each gets one message, also if
// the mailing comes again, and after it was stopped or the gateway has forgotten it. Nobody else sees it.
func TestMailing(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", max_parts: 3"), "", "")
	b := r.user("shop", config.SendScope)
	const file = "Name;to\nAnn;+46700000001\nBob <b>;+46700000002\n\"Cyd; Dee\";+46700000003"
	const text = "Hello {name}!"
	w := b.mail(file, text)
	page := strings.TrimPrefix(w.header.Get("Location"), Base)
	if w.code != 303 || !strings.HasPrefix(page, "mailing/") {
		t.Fatalf("%+v", w)
	}
	body := b.until(page, "Send to 3 recipients")
	for _, want := range []string{"Hello Ann!", "Hello Bob &lt;b&gt;!", "Hello Cyd; Dee!", "<dt>short messages</dt><dd>3</dd>", "<dt>can be sent</dt><dd>3</dd>"} {
		if !strings.Contains(body, want) {
			t.Errorf("without %q: %s", want, body)
		}
	}
	if !r.SMSC.Idle() {
		t.Fatal("a check has sent something")
	}
	if w := b.mail(file, "another text"); w.code != 422 || !strings.Contains(w.body, "has not ended") {
		t.Errorf("%+v", w)
	}
	for _, other := range []*person{r.user("rival", config.SendScope), r.user("shop", config.LookScope)} {
		if w := other.get(page); w.code == 200 || strings.Contains(w.body, "Ann") {
			t.Errorf("%+v", w)
		}
		if w := other.post(page, "send", "1"); w.code == 303 {
			t.Errorf("%+v", w)
		}
	}
	b.post(page, "send", "1")
	b.until(page, "<dd>ended</dd>")
	for i := range 3 {
		r.SMSC.Accept(fmt.Sprint("s", i))
	}
	b.has(page, "<dt>accepted</dt><dd>3</dd>", "<dt>refused</dt><dd>0</dd>")
	b.post(page, "send", "1")
	if again := b.mail(file, text); again.header.Get("Location") != Base+page {
		t.Errorf("%+v", again)
	}
	r.site.portal.mailings = mailings{of: map[string]*mailing{}} // as after a restart
	if w := b.get(page); w.code != 404 || !strings.Contains(w.body, "nobody gets the message again") {
		t.Errorf("%+v", w)
	}
	b.mail(file, text)
	b.until(page, "Send to 3 recipients")
	b.post(page, "send", "1")
	b.until(page, "<dd>ended</dd>")
	b.has(page, "<dt>accepted</dt><dd>3</dd>")
	if !r.SMSC.Idle() {
		t.Error("a message was sent twice")
	}
	if !r.records.has("portal/mailing/send map[mailing:"+strings.TrimPrefix(page, "mailing/")+"]: ok\n") || strings.Contains(strings.Join(r.records.lines, "\n"), "4670") {
		t.Errorf("%q", r.records.lines)
	}
}

// Recipients who have opted out, and those who are blocked, are left out of a mailing and named, also those who opt out while it is
// sent. The others get it. With the same file it is the same mailing.
func TestMailingLeavesOut(t *testing.T) {
	t.Parallel()
	dir, lists := t.TempDir(), ""
	for name, options := range map[string]string{"outs": ", opt_out_from: operator", "blocked": ""} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(map[string]string{"outs": "46700000002\n", "blocked": "46700000003\n"}[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		lists += fmt.Sprintf("{name: %s, file: %s%s}, ", name, file, options)
	}
	r := newRig(t, accounts(", block: [outs, blocked]"), "", "", "lists: ["+lists+"]")
	b := r.user("shop", config.SendScope)
	const file = "to\n+46700000001\n+46700000002\n+46700000003\n+46700000004\n"
	page := strings.TrimPrefix(b.mail(file, "hello").header.Get("Location"), Base)
	b.until(page, "Send to 2 recipients")
	b.has(page, "<dt>left out</dt><dd>2</dd>", "<dt>faults</dt><dd>0</dd>", "Line 3: The recipient has opted out", "Line 4: ")
	if _, err := r.Gateway.Lists.Change("outs", true, numbers.Origin{Source: numbers.API, Who: "token crm"}, "46700000004"); err != nil {
		t.Fatal(err)
	}
	b.post(page, "send", "1")
	b.until(page, "<dd>ended</dd>")
	r.SMSC.Accept("s1")
	b.has(page, "<dt>accepted</dt><dd>1</dd>", "<dt>refused</dt><dd>0</dd>", "<dt>left out</dt><dd>3</dd>")
	if again := b.mail(file, "hello"); again.header.Get("Location") != Base+page || !r.SMSC.Idle() {
		t.Errorf("%+v", again)
	}
	none := strings.TrimPrefix(b.mail("to\n+46700000002\n", "hello").header.Get("Location"), Base)
	b.until(none, "<dd>checked</dd>")
	if w := b.get(none); strings.Contains(w.body, `name="send"`) {
		t.Errorf("%+v", w)
	}
	b.post(none, "send", "1")
	b.until(none, "<dd>checked</dd>")
}

// A mailing that was stopped sends nothing more, also if it was stopped before its first row; and one ends as soon as its user may not
// send any more.
func TestMailingStops(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.SendScope)
	for name, stop := range map[string]func(m *mailing, by *mailingPost){
		"stopped": func(m *mailing, _ *mailingPost) { m.end() },
		"may not": func(_ *mailing, by *mailingPost) { by.may = func() bool { return false } },
		"gateway": func(_ *mailing, by *mailingPost) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			by.ctx = ctx
		},
	} {
		rows, _ := readRecipients([]byte("to\n+46700000001\n+46700000002\n"))
		m := newMailing("shop", "", name, time.Time{}, nil, rows)
		m.State = beingSent
		by := &mailingPost{messages: r.site.portal.rooms.Messages, reader: &r.site.portal.reader, ctx: t.Context(), now: time.Now, may: func() bool { return true }}
		stop(m, by)
		m.send(by)
		if p := m.shown(); p.State != stopped || p.Accepted != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	page := strings.TrimPrefix(b.mail("to\n+46700000001\n", "hello").header.Get("Location"), Base)
	b.until(page, "Send to 1 recipient<")
	r.Reload(strings.Replace(r.yaml, "name: send,", "name: other,", 1))
	if w := b.post(page, "send", "1"); w.code != 303 || !strings.HasPrefix(w.header.Get("Location"), Base+"login") || !r.SMSC.Idle() {
		t.Errorf("%+v", w)
	}
}

// What is wrong with a file, with a text, or with single lines is said, and nothing of it can be sent.
func TestMailingFaults(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", max_parts: 1"), "", "")
	b := r.user("shop", config.SendScope)
	for _, c := range []struct{ file, text, want string }{
		{"", "a", "must have a line"}, {"to\n", "a", "must have a line"},
		{"to\n+46700000001\n\"+46700000002\n+46700000003\n", "a", "line 3: a closing quote"}, {"to\n+46700000001" + strings.Repeat(",", 64) + "\n", "a", "line 2: "},
		{"to,name\n+46700000001,J\xf6rg\n", "a", "not in UTF-8"}, {"to,name\n+46700000001,A\x00nn\n", "a", "not in UTF-8"}, {"to\n+46700000001\n" + strings.Repeat("a", 70_000), "a", "line 3: "}, {"to\n+46700000001\n", "", "A text is needed"},
		{"to\n+46700000001\n", "{name}", "no column for {name}"}, {"to\n+46700000001\n", strings.Repeat("a", 10_001), "10000 octets"},
		{"to\n+46700000001\n", strings.Repeat("{to}", 33), "32 places"}, {"to,a\n+46700000001," + strings.Repeat("a", 1001) + "\n", "a", "Line 2 has a field"},
		{"to\n" + strings.Repeat("+46700000001\n", 10_001), "a", "10000 recipients at most"},
	} {
		if w := b.mail(c.file, c.text); w.code != 422 || !strings.Contains(w.body, c.want) {
			t.Errorf("%+v: %d %s", c.want, w.code, w.body)
		}
	}
	if w := b.mail("to\n"+strings.Repeat("+46700000001,"+strings.Repeat("a", 1000)+"\n", 2200), "a"); w.code != 413 {
		t.Errorf("%d", w.code)
	}
	page := strings.TrimPrefix(b.mail("to,name\n\n+46700000001,Ann\nx1,Bob\n+46 70 000 00 01,Cyd\n+46700000004,"+strings.Repeat("a", 200)+"\n", "{name}").header.Get("Location"), Base)
	body := b.until(page, "Mend the file")
	for _, want := range []string{"Line 4: ", "Line 5: ", "the number is that of line 3", "Line 6: ", "<dt>faults</dt><dd>3</dd>"} {
		if !strings.Contains(body, want) {
			t.Errorf("without %q: %s", want, body)
		}
	}
	b.post(page, "send", "1")
	b.has(page, "<dd>checked</dd>")
	b.post(page, "stop", "1")
	b.has(page, "<dd>stopped</dd>")
	if !r.SMSC.Idle() {
		t.Error("something was sent")
	}
}

// A mailing of an account with a rate sends all rows, none of which is refused because it comes too early.
func TestMailingRate(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", rate: 20"), "", "")
	b := r.user("shop", config.SendScope)
	file := "to\n"
	for i := range 40 {
		file += fmt.Sprintf("+467000%05d\n", i)
	}
	page := strings.TrimPrefix(b.mail(file, "hello").header.Get("Location"), Base)
	b.until(page, "Send to 40 recipients")
	b.post(page, "send", "1")
	b.until(page, "<dd>ended</dd>")
	b.has(page, "<dt>done</dt><dd>40</dd>", "<dt>accepted</dt><dd>40</dd>", "<dt>refused</dt><dd>0</dd>")
}

// Accounts whose mailings wait for their users keep nobody from sending: the one that has waited longest, for an hour, gives its place.
// The same mailing comes again if some of its rows were refused.
func TestMailingPlaces(t *testing.T) {
	t.Parallel()
	s := mailings{of: map[string]*mailing{}}
	add := func(account string, state string) (*mailing, bool) {
		m, _, ok := s.add(newMailing(account, "", "a", time.Time{}, nil, recipients{}))
		if ok {
			m.State = state
		}
		return m, ok
	}
	first, _ := add("a0", checked)
	second, _ := add("a1", checked)
	for i := range mostRunning - 2 {
		add(fmt.Sprint("b", i), beingSent)
	}
	if _, ok := add("late", checked); ok {
		t.Error("there is a place more")
	}
	first.made, second.made = time.Now().Add(-2*waitTime), time.Now().Add(-3*waitTime)
	if _, ok := add("late", ended); !ok || second.shown().State != stopped || first.shown().State != checked {
		t.Errorf("%v, %s, %s", ok, first.shown().State, second.shown().State)
	}
	if _, isNew, _ := s.add(newMailing("late", "", "a", time.Time{}, nil, recipients{})); isNew {
		t.Error("what has ended comes again")
	}
	s.find("late", newMailing("late", "", "a", time.Time{}, nil, recipients{}).ID).Refused.Rows = 1
	if m, isNew, ok := s.add(newMailing("late", "", "a", time.Time{}, nil, recipients{})); !isNew || !ok || m.shown().State != checking {
		t.Error("the rows that were refused cannot be sent")
	}
}

// full is a gateway that has no room, and calls asked each time.
type full struct {
	Messages
	problem string
	step    string
	asked   func(n int)
	n       int
}

// SubmitFrom implements Messages.
func (f *full) SubmitFrom(context.Context, *connector.Source, *own.Message, string, []byte) (request.Result, *own.Problem) {
	f.n++
	f.asked(f.n)
	return request.Result{Step: f.step}, own.NewProblem(f.problem, "")
}

// A row that finds no room is tried again until the mailing is stopped, or for ten minutes. What does not pass is refused once.
func TestMailingWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		problem, step, state string
		asked                int
	}{
		{"queue-full", "", stopped, 1}, {"rate-limited", "rate", ended, 2}, {"rate-limited", "flood", ended, 1}, {"no-credit", "", ended, 1}, {"opted-out", "", ended, 1},
	} {
		rows, _ := readRecipients([]byte("to\n+46700000001"))
		m := newMailing("shop", "", "a", time.Time{}, nil, rows)
		m.State = beingSent
		ctx, stop := context.WithCancel(t.Context())
		m.stop = stop
		now := time.Now()
		f := &full{problem: c.problem, step: c.step, asked: func(n int) {
			if c.state == stopped {
				m.end()
			} else if n > 1 {
				now = now.Add(rowTime)
			}
		}}
		m.send(&mailingPost{messages: f, reader: &own.Reader{}, ctx: ctx, now: func() time.Time { return now }, may: func() bool { return true }})
		if p := m.shown(); p.State != c.state || f.n != c.asked || (p.Refused.Rows+p.LeftOut.Rows == 1) != (c.state == ended) || (p.LeftOut.Rows == 1) != (c.problem == "opted-out") {
			t.Errorf("%+v: asked %d times, %+v", c, f.n, p)
		}
		stop()
	}
}
