package browser

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"pmg/internal/figuretext"
)

// A page stands in the frame of its site: with the menu, of which its group is marked, with the pages of that group, and with what
// all pages share.
func TestFrame(t *testing.T) {
	t.Parallel()
	site := NewSite("/ui/", "PMG", fstest.MapFS{
		"templates/parts/parts.html": {Data: []byte(`{{define "shared"}}[{{.}}]{{end}}`)},
		"templates/overview.html":    {Data: []byte(`{{define "main"}}first{{end}}`)},
		"templates/lists-name.html":  {Data: []byte(`{{define "main"}}{{template "shared" .Title}}{{template "wrong" ""}}{{end}}`)},
	})
	pages := []Page{
		{Title: "Overview"}, {Name: "lists", Title: "Lists", Group: "Numbers"}, {Name: "lists/{name}", Title: "List", Group: "Numbers"},
		{Name: "opted", Title: "Opted out", Group: "Numbers"},
	}
	for i, want := range []string{
		"[{Overview /ui/ true} {Numbers /ui/lists false}] []",
		"[{Overview /ui/ false} {Numbers /ui/lists true}] [{Lists /ui/lists true} {Opted out /ui/opted false}]",
		"[{Overview /ui/ false} {Numbers /ui/lists true}] [{Lists /ui/lists true} {Opted out /ui/opted false}]",
		"[{Overview /ui/ false} {Numbers /ui/lists true}] [{Lists /ui/lists false} {Opted out /ui/opted true}]",
	} {
		f := site.Frame(&pages[i], pages)
		if got := fmt.Sprint(f.Menu, f.Tabs); got != want {
			t.Errorf("%s: %s, not %s", pages[i].Title, got, want)
		}
	}
	f := site.Frame(&pages[2], pages)
	f.User, f.Stream, f.Notice = "<anna>", "/ui/stream/lists/x?a=b&c", Notice{Failed: true, Text: "not done"}
	b, err := site.Render(pages[2].Template(), struct{ Frame }{f})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"<title>List – PMG</title>", `src="/ui/static/pmg.js"`, `action="/ui/logout"`, "<span>&lt;anna&gt;</span>", `id="live"`,
		`<p class="notice failed" role="status">not done</p>`, `data-stream="/ui/stream/lists/x?a=b&amp;c"`, "\n[List]\n",
	} {
		if !strings.Contains(string(b), text) {
			t.Errorf("no %s: %s", text, b)
		}
	}
	b, err = site.Render(pages[0].Template(), struct{ Frame }{Frame{Site: &site, Title: "Log in"}})
	for _, text := range []string{"<nav", "logout", `id="live"`, "data-stream", "notice"} {
		if err != nil || strings.Contains(string(b), text) {
			t.Errorf("%s, of which the frame has nothing: %v %s", text, err, b)
		}
	}
}

// A login leads back to the page that was asked for, and to the first page after a form.
func TestLoginPath(t *testing.T) {
	t.Parallel()
	site := &Site{Base: "/ui/"}
	for method, want := range map[string]string{"GET": "/ui/login?next=%2Fui%2Fqueues%3Fa%3Db", "POST": "/ui/login?next=%2Fui%2F"} {
		if got := site.LoginPath(httptest.NewRequest(method, "/ui/queues?a=b", nil)); got != want {
			t.Errorf("%s: %s, not %s", method, got, want)
		}
	}
}

// A template runs also without its frame, for what it calls of the view, and its error is returned.
func TestRun(t *testing.T) {
	t.Parallel()
	site := NewSite("/ui/", "PMG", fstest.MapFS{"templates/overview.html": {Data: []byte(`{{define "main"}}{{.Count .Rows}}, {{.Count .Octets}}{{end}}`)}})
	type view struct {
		Frame
		Rows   int
		Octets uint64
	}
	good := view{Frame{Site: &site}, 12345, 67890}
	b, err := site.Render("overview", good)
	if err != nil || !strings.Contains(string(b), figuretext.Number(12345)+", "+figuretext.Number(67890)) {
		t.Errorf("%v: %s", err, b)
	}
	if err := site.Run("overview", good); err != nil {
		t.Error(err)
	}
	_, err = site.Render("overview", Frame{Site: &site})
	if err == nil || site.Run("overview", Frame{Site: &site}) == nil {
		t.Error("a view without what its template shows is no error")
	}
}
