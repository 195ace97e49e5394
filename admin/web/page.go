package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/internal/browser"
	"pmg/internal/figuretext"
)

// A page is one of the operators' pages.
type page struct {
	browser.Page
	model func(*http.Request) any // returns the page's model; a nil model: the object does not exist
}

// A view is the argument of a page's template.
type view struct {
	browser.Frame
	Back   string // the path to which an action returns: the path of the request
	Caller access.Caller
	Model  any

	cells map[string]string
}

// Cell writes a value that changes while the page is open. The key is unique in the page.
func (v *view) Cell(key string, value any) template.HTML {
	text := fmt.Sprint(value)
	v.cells[key] = text
	return template.HTML(`<span data-k="` + template.HTMLEscapeString(key) + `">` + template.HTMLEscapeString(text) + `</span>`)
}

// State writes a colored word.
func (v *view) State(key, word string) template.HTML {
	v.cells[key] = word
	word = template.HTMLEscapeString(word)
	return template.HTML(`<span class="state" data-k="` + template.HTMLEscapeString(key) + `" data-v="` + word + `">` + word + `</span>`)
}

// Age writes an age.
func (v *view) Age(key string, seconds float64) template.HTML {
	return v.Cell(key, figuretext.Age(seconds))
}

// Number writes a whole number with separators, which changes while the page is open.
func (v *view) Number(key string, n any) template.HTML { return v.Cell(key, v.Count(n)) }

// Ago writes the time since at, as of the request.
func (v *view) Ago(at time.Time) string {
	if seconds := time.Since(at).Seconds(); seconds >= 1 {
		return figuretext.Age(seconds) + " ago"
	}
	return "now"
}

// Last writes the time since an event, or a dash if it never happened.
func (v *view) Last(key string, at *time.Time) template.HTML {
	if at == nil {
		return v.Cell(key, "–")
	}
	return v.Cell(key, v.Ago(*at))
}

// For writes the duration since a time.
func (v *view) For(key string, since time.Time) template.HTML {
	return v.Age(key, max(0.001, time.Since(since).Seconds()))
}

// Oldest writes the age of the oldest entry after the number of entries, and nothing if there are no entries.
func (v *view) Oldest(key string, seconds float64) template.HTML {
	if seconds <= 0 {
		return v.Cell(key, "")
	}
	return v.Cell(key, ", oldest "+figuretext.Age(seconds))
}

// Sessions writes the number of sessions.
func (v *view) Sessions(key string, n int) template.HTML {
	if n == 1 {
		return v.Cell(key, "1 session")
	}
	return v.Cell(key, v.Count(n)+" sessions")
}

// Link returns the path of the page about an object of a list.
func (v *view) Link(list, name string) string {
	return admin.PagesBase + list + "/" + url.PathEscape(name)
}

// An item is the argument of a template for one of several objects.
type item struct {
	*view
	It any
}

// With returns the argument of a template for one object.
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

// view returns the argument of a page's template.
func (s *site) view(p *page, r *http.Request) *view {
	model, of := p.model(r), p.Page
	if m, ok := model.(*newPage); ok {
		of.Group = m.group
	}
	v := &view{
		Frame: s.Frame(&of, s.menu), Back: r.URL.EscapedPath(), Caller: access.CallerOf(r), Model: model,
		cells: map[string]string{},
	}
	v.Title = strings.TrimSpace(p.Title + " " + r.PathValue("name"))
	if r.URL.RawQuery != "" {
		v.Back += "?" + r.URL.RawQuery
	}
	if still, ok := v.Model.(interface{ IsStill() bool }); v.Model != nil && !p.isSearch() && !(ok && still.IsStill()) {
		v.Stream = s.Base + "stream/" + strings.TrimPrefix(v.Back, s.Base)
	}
	switch {
	case v.Caller.Login != "":
		v.User = fmt.Sprintf("%s (%s)", v.Caller.Login, v.Caller.Scope)
	case len(s.server.Gateway().Node.Config().Admin.Users) > 0:
		v.Login = s.LoginPath(r)
	}
	return v
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
		s.write(w, http.StatusOK, p.Template(), v)
	}
}

// write writes a page, completely or not at all.
func (s *site) write(w http.ResponseWriter, code int, name string, v any) {
	b, err := s.Render(name, v)
	if err != nil {
		s.server.Gateway().Node.Log.Error().Err(err).Str("page", name).Msg("cannot show a page")
		http.Error(w, "this page cannot be shown: the gateway's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b)
}
