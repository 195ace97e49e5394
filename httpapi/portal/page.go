package portal

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"pmg/internal/browser"
	"pmg/internal/figuretext"
	"pmg/protocols/httpsms/own"
)

//go:embed templates/*.html
var templateFiles embed.FS

// A page is one of the pages.
type page struct {
	name  string // in its path; "": the first page
	title string
	scope scope
	model func(*visit) (any, *own.Problem)
}

// pages returns all pages.
func pages() []page {
	return []page{
		{"", "Overview", look, overviewOf},
		{"messages", "Messages", look, messagesOf},
		{"messages/{id}", "Message", look, messageOf},
		{"send", "Send", send, sendOf},
		{"statistics", "Statistics", look, statisticsOf},
		{"balance", "Balance", look, balanceOf},
		{"webhooks", "Webhooks", look, webhooksOf},
		{"keys", "Keys", look, keysOf},
	}
}

// pattern returns the pattern of its path.
func (p *page) pattern() string {
	if p.name == "" {
		return Base + "{$}"
	}
	return Base + p.name
}

// template returns the name of its template.
func (p *page) template() string {
	return cmp.Or(strings.NewReplacer("/{", "-", "}", "").Replace(p.name), "overview")
}

// templates are those of the pages, by their names.
type templates map[string]*template.Template

func newTemplates() templates {
	t := templates{}
	add := func(name string) {
		t[name] = template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html"))
	}
	for _, p := range pages() {
		add(p.template())
	}
	add("login")
	add("wrong")
	return t
}

// A menuEntry leads to a page.
type menuEntry struct {
	Title, Path string
	Current     bool
}

// A view is what a template is given.
type view struct {
	Title         string
	Menu          []menuEntry
	Account, User string // "": nobody is logged in
	Notice        browser.Notice
	Model         any
	Sends         bool // the user may submit messages
	Manages       bool // the user may make and revoke keys
}

// Time writes a time.
func (*view) Time(t time.Time) string { return t.UTC().Format(time.DateTime) }

// Number writes a whole number with separators.
func (*view) Number(n int64) string { return figuretext.Number(n) }

// show answers with the page.
func (p *page) show(v *visit) {
	model, wrong := p.model(v)
	if wrong != nil {
		v.refuse(wrong)
		return
	}
	v.page(http.StatusOK, p.template(), p.title, model)
}

// page answers with a page. Nothing has been written if it fails.
func (v *visit) page(status int, name, title string, model any) {
	shown := &view{
		Title: title, Account: v.who.account, User: v.who.user, Model: model, Sends: v.scope >= send, Manages: v.scope >= manage,
	}
	if v.who.account != "" {
		shown.Notice = v.site.sessions.Notice(v.x.Request)
		for _, p := range pages() {
			if !strings.Contains(p.name, "{") && v.scope >= p.scope {
				shown.Menu = append(shown.Menu, menuEntry{p.title, Base + p.name, title == p.title})
			}
		}
	}
	var b bytes.Buffer
	if err := v.site.portal.templates[name].ExecuteTemplate(&b, "layout.html", shown); err != nil {
		v.rooms().Node.Log.Error().Err(err).Str("page", name).Msg("cannot show a page of the portal")
		v.answer(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte("This page cannot be shown.\n"))
		return
	}
	v.answer(status, "text/html; charset=utf-8", b.Bytes())
}

// wrong answers with a page that says what is wrong.
func (v *visit) wrong(status int, text string) {
	v.page(status, "wrong", http.StatusText(status), text)
}

// refuse answers with a problem.
func (v *visit) refuse(p *own.Problem) {
	if p.RetryAfter > 0 {
		v.wait(p.RetryAfter)
	}
	v.wrong(p.Status, textOf(p))
}

// textOf returns a problem in words.
func textOf(p *own.Problem) string {
	text := p.Title
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	for _, e := range p.Errors {
		text += "\n" + strings.TrimSpace(strings.TrimPrefix(e.Pointer, "/")+" "+e.Detail)
	}
	return text
}

func (v *visit) missing() { v.wrong(http.StatusNotFound, "There is no such page.") }

func (v *visit) unknown() {
	v.wrong(http.StatusMethodNotAllowed, "This path does not take such a request.")
}

func (v *visit) forged() { v.wrong(http.StatusForbidden, "Another site has sent this request.") }

func (v *visit) failed() {
	v.wrong(http.StatusInternalServerError, "The gateway has failed at the request.")
}
