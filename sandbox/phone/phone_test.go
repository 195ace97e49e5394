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

// A conversation shows texts with their parts joined, what did not arrive, and replies, which go to the gateway. Markup is shown as
// text, and other hosts and sites are refused.
func TestPhones(t *testing.T) {
	t.Parallel()
	p := New()
	p.Show(sandbox.Text{ID: 7, Part: 1, Parts: 2, From: "Shop", To: "46700000001", Text: "<b>World", Fate: "delivered", Arrives: true})
	p.Show(sandbox.Text{ID: 7, Part: 0, Parts: 2, From: "Shop", To: "46700000001", Text: "Hello ", Fate: "delivered", Arrives: true})
	p.Show(sandbox.Text{ID: 8, From: "1234", To: "46700000002", Text: "never", Fate: "undeliverable"})
	var sent string
	s := httptest.NewServer(Handler(p, func(from, to, text string) string { sent = from + " " + to + " " + text; return "" }))
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
	r, err := http.PostForm(s.URL+"/reply", url.Values{"number": {"46700000001"}, "to": {"1234"}, "text": {"hi"}})
	if err != nil || r.StatusCode != 200 || sent != "46700000001 1234 hi" {
		t.Errorf("%v, %v: %q", r, err, sent)
	}
	if page := get("/texts?number=46700000001"); !strings.Contains(page, "mine") {
		t.Error(page)
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
		p.Show(sandbox.Text{ID: uint64(i + 1), From: "Shop", To: to, Text: "hello"})
	}
	if all := p.Numbers(); len(all) != 1 || len(p.Lines("+46700000001")) != 4 {
		t.Errorf("%v: %d", all, len(p.Lines("+46700000001")))
	}
}
