package phone

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pmg/sandbox"
)

// fake is a gateway that remembers.
type fake struct {
	sent   string
	script sandbox.Script
}

func (*fake) Clients() []string        { return []string{"dev", "smpp"} }
func (g *fake) Script() sandbox.Script { return g.script }
func (g *fake) Play(s sandbox.Script)  { g.script = s }
func (g *fake) Send(client, from, to, text string) string {
	g.sent = strings.Join([]string{client, from, to, text}, " ")
	return ""
}

// A conversation shows texts with their parts joined, what did not arrive, and replies, which go to the gateway. Markup is shown as
// text, and other hosts and sites are refused.
func TestPhones(t *testing.T) {
	t.Parallel()
	p := New()
	p.Show("dev", sandbox.Text{ID: 7, Part: 1, Parts: 2, From: "Shop", To: "46700000001", Text: "<b>World", Fate: "delivered", Arrives: true})
	p.Show("dev", sandbox.Text{ID: 7, Part: 0, Parts: 2, From: "Shop", To: "46700000001", Text: "Hello ", Fate: "delivered", Arrives: true})
	p.Show("dev", sandbox.Text{ID: 8, From: "1234", To: "46700000002", Text: "never", Fate: "undeliverable"})
	g := &fake{}
	s := httptest.NewServer(Handler(p, g))
	defer s.Close()
	get := func(path string) string {
		t.Helper()
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		if got := r.Header.Get("Content-Security-Policy"); got != policy || r.StatusCode != 200 {
			t.Errorf("%s: %s, policy %q", path, r.Status, got)
		}
		return string(b)
	}
	if page := get("/texts?number=46700000001"); !strings.Contains(page, "Hello &lt;b&gt;World") {
		t.Error(page)
	}
	if page := get("/texts?number=46700000002"); !strings.Contains(page, "lost") || !strings.Contains(page, "undeliverable") {
		t.Error(page)
	}
	if page := get("/numbers"); strings.Index(page, "46700000002") > strings.Index(page, "46700000001") {
		t.Errorf("the latest is not first: %s", page)
	}
	if page := get("/?number=46700000002"); !strings.Contains(page, `value="1234"`) {
		t.Error(page)
	}
	get("/phone.css")
	r, err := http.PostForm(s.URL+"/reply", url.Values{"number": {"+46700000001"}, "to": {"1234"}, "client": {"smpp"}, "text": {"hi"}})
	if err != nil || r.StatusCode != 200 || g.sent != "smpp +46700000001 1234 hi" || len(p.Numbers()) != 2 {
		t.Errorf("%v, %v: %q", r, err, g.sent)
	}
	if page := get("/texts?number=46700000001"); !strings.Contains(page, "mine") {
		t.Error(page)
	}
	for _, c := range []struct {
		script string
		want   int
	}{{"twice", 200}, {"none", 400}} { // the second changes nothing
		r, err := http.PostForm(s.URL+"/script", url.Values{"script": {c.script}})
		if err != nil || r.StatusCode != c.want || g.script != sandbox.Twice {
			t.Errorf("%s: %v, %v, %v", c.script, r, err, g.script)
		}
	}
	if page := get("/"); !strings.Contains(page, `value="twice" selected`) || !strings.Contains(page, "<option selected>smpp</option>") {
		t.Error(page)
	}
	if r, err := http.PostForm(s.URL+"/reply", url.Values{"number": {"1"}, "to": {"1234"}, "client": {"other"}, "text": {"hi"}}); err != nil || r.StatusCode != 400 {
		t.Error(r, err)
	}
	for _, form := range []url.Values{
		{"number": {strings.Repeat("1", 21)}, "to": {"1234"}, "client": {"smpp"}, "text": {"hi"}},
		{"number": {"46700000001"}, "to": {strings.Repeat("1", 21)}, "client": {"smpp"}, "text": {"hi"}},
	} {
		if r, err := http.PostForm(s.URL+"/reply", form); err != nil || r.StatusCode != 400 {
			t.Errorf("a number that is too long: %v, %v", r, err)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"another host": func(r *http.Request) { r.Host = "evil.example" },
		"another site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		q, _ := http.NewRequest("POST", s.URL+"/reply", strings.NewReader("number=1&to=2&text=x"))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(q)
		if r, err := http.DefaultClient.Do(q); err != nil || r.StatusCode != 403 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// One person has one phone, in whatever form its number is written.
func TestOnePhone(t *testing.T) {
	t.Parallel()
	p := New()
	for i, to := range []string{"46700000001", "+46700000001", "0046700000001", "+46 70 000 00 01"} {
		p.Show("dev", sandbox.Text{ID: uint64(i + 1), From: "Shop", To: to, Text: "hello"})
	}
	if all := p.Numbers(); len(all) != 1 || len(p.Lines("+46700000001")) != 4 {
		t.Errorf("%v: %d", all, len(p.Lines("+46700000001")))
	}
}
