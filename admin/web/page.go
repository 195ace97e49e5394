package web

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/internal/browser"
	"pmg/internal/figuretext"
)

// A page is one of the operators' pages.
type page struct {
	Name  string // in its path, which may end with /{name}; "": the first page
	Title string
	Group string // of the menu
	Scope access.Scope
	model func(*http.Request) any // nil: there is no such thing
}

// template returns the name of its template: connectors-name of connectors/{name}.
func (p *page) template() string {
	return cmp.Or(strings.NewReplacer("/{", "-", "}", "").Replace(p.Name), "overview")
}

// InMenu reports whether the page is in the menu. The others are about one thing, which their paths name.
func (p *page) InMenu() bool { return !strings.Contains(p.Name, "{") }

// Has reports whether a page is this one, or about one of the things that it lists.
func (p *page) Has(other *page) bool {
	list, _, _ := strings.Cut(other.Name, "/{")
	return p.Name == list
}

// A menuEntry leads to a page, or to the first of a group.
type menuEntry struct {
	Title, Path string
	Current     bool
}

// Menu returns an entry for each group of pages.
func (v *view) Menu() (menu []menuEntry) {
	for i := range v.Pages {
		p := &v.Pages[i]
		if n := len(menu); p.InMenu() && (n == 0 || menu[n-1].Title != p.Group) {
			menu = append(menu, menuEntry{p.Group, p.Path(), v.Page != nil && v.Page.Group == p.Group})
		}
	}
	return menu
}

// Tabs returns an entry for each page of the group of this one, if there are several.
func (v *view) Tabs() (tabs []menuEntry) {
	for i := range v.Pages {
		if p := &v.Pages[i]; v.Page != nil && p.InMenu() && p.Group == v.Page.Group {
			tabs = append(tabs, menuEntry{p.Title, p.Path(), p.Has(v.Page)})
		}
	}
	if len(tabs) < 2 {
		return nil
	}
	return tabs
}

// Path returns the path of the page.
func (p *page) Path() string { return admin.PagesBase + p.Name }

// A view is what the template of a page is given.
type view struct {
	Page   *page
	Title  string
	At     string // the request's path behind that of the first page
	Pages  []page
	Caller access.Caller
	Users  bool // somebody can log in
	Notice browser.Notice
	Query  string // of the request, for links and the stream
	Model  any

	cells map[string]string
}

// Cell writes a value that changes while the page is seen. The key is its own in the page.
func (v *view) Cell(key string, value any) template.HTML {
	text := fmt.Sprint(value)
	v.cells[key] = text
	return template.HTML(`<span data-k="` + template.HTMLEscapeString(key) + `">` + template.HTMLEscapeString(text) + `</span>`)
}

// State writes a word that has a color.
func (v *view) State(key, word string) template.HTML {
	v.cells[key] = word
	word = template.HTMLEscapeString(word)
	return template.HTML(`<span class="state" data-k="` + template.HTMLEscapeString(key) + `" data-v="` + word + `">` + word + `</span>`)
}

// Age writes how old the oldest of something is.
func (v *view) Age(key string, seconds float64) template.HTML {
	return v.Cell(key, figuretext.Age(seconds))
}

// Number writes a whole number with separators that changes while the page is seen.
func (v *view) Number(key string, n any) template.HTML { return v.Cell(key, v.Count(n)) }

// Count writes a whole number with separators.
func (v *view) Count(n any) string {
	if value := reflect.ValueOf(n); value.CanUint() {
		return figuretext.Number(int64(value.Uint()))
	}
	return figuretext.Number(reflect.ValueOf(n).Int())
}

// Ago writes how long ago something was, at the time of the request.
func (v *view) Ago(at time.Time) string {
	if seconds := time.Since(at).Seconds(); seconds >= 1 {
		return figuretext.Age(seconds) + " ago"
	}
	return "now"
}

// Last writes how long ago something was, and a dash if it never was.
func (v *view) Last(key string, at *time.Time) template.HTML {
	if at == nil {
		return v.Cell(key, "–")
	}
	return v.Cell(key, v.Ago(*at))
}

// For writes how long something has lasted.
func (v *view) For(key string, since time.Time) template.HTML {
	return v.Age(key, max(0.001, time.Since(since).Seconds()))
}

// Oldest writes the age of the oldest behind how many there are, and nothing if there are none.
func (v *view) Oldest(key string, seconds float64) template.HTML {
	if seconds <= 0 {
		return v.Cell(key, "")
	}
	return v.Cell(key, ", oldest "+figuretext.Age(seconds))
}

// Sessions writes how many sessions there are.
func (v *view) Sessions(key string, n int) template.HTML {
	if n == 1 {
		return v.Cell(key, "1 session")
	}
	return v.Cell(key, v.Count(n)+" sessions")
}

// Streams reports whether the page is kept up to date.
func (v *view) Streams() bool {
	still, ok := v.Model.(interface{ IsStill() bool })
	return v.Model != nil && !v.Page.IsSearch() && !(ok && still.IsStill())
}

// Back returns where an action goes back to.
func (v *view) Back() string {
	if v.Query == "" {
		return admin.PagesBase + v.At
	}
	return admin.PagesBase + v.At + "?" + v.Query
}

// Link returns the path of the page about one thing of a list.
func (v *view) Link(list, name string) string {
	return admin.PagesBase + list + "/" + url.PathEscape(name)
}

// An item is the argument of a template that writes one of several things.
type item struct {
	*view
	It any
}

// With returns what a template is given that writes one thing.
func (v *view) With(it any) item { return item{v, it} }

// May reports whether the reader of the page may carry out an action.
func (v *view) May(act string) bool {
	for _, a := range admin.Actions() {
		if a.Name == act {
			return v.Caller.Scope >= a.Scope
		}
	}
	return false
}

// view makes what the template of a page is given.
func (s *site) view(p *page, r *http.Request) *view {
	return &view{
		Page: p, Title: strings.TrimSpace(p.Title + " " +
			r.PathValue("name")), At: strings.TrimPrefix(r.URL.EscapedPath(), admin.PagesBase), Pages: s.pages,
		Caller: access.CallerOf(r), Users: len(
			s.server.Gateway().Node.Config().Admin.Users,
		) > 0,
		Query: r.URL.RawQuery, Model: p.model(r), cells: map[string]string{},
	}
}

// show answers a request for a page.
func (s *site) show(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.view(p, r)
		v.Notice = s.server.Guard().Sessions.Notice(r)
		if v.Model == nil {
			s.write(w, http.StatusNotFound, "missing", v)
			return
		}
		s.write(w, http.StatusOK, p.template(), v)
	}
}

// write writes a page. Nothing has been written if it fails.
func (s *site) write(w http.ResponseWriter, code int, name string, v any) {
	var b bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&b, "layout.html", v); err != nil {
		s.server.Gateway().Node.Log.Error().Err(err).Str("page", name).Msg("cannot show a page")
		http.Error(w, "this page cannot be shown: the gateway's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}
