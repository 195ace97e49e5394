package portal

import (
	"embed"
	"net/http"
	"strings"
	"time"

	"pmg/config"
	"pmg/internal/browser"
	"pmg/protocols/httpsms/own"
)

//go:embed templates
var templateFiles embed.FS

// A page is a page for customers.
type page struct {
	browser.Page
	scope      scope
	model      func(*visit) (any, *own.Problem)
	ofPassword bool // for users who have a password here
}

// pages returns all pages.
func pages() []page {
	return []page{
		{browser.Page{Title: "Overview"}, look, overviewOf, false},
		{browser.Page{Name: "messages", Title: "Messages"}, look, messagesOf, false},
		{browser.Page{Name: "messages/{id}", Title: "Message"}, look, messageOf, false},
		{browser.Page{Name: "inbox", Title: "Inbox"}, send, inboxOf, false},
		{browser.Page{Name: "send", Title: "Send"}, send, sendOf, false},
		{browser.Page{Name: "mailing", Title: "Mailing", Group: "Send"}, send, mailingsOf, false},
		{browser.Page{Name: "mailing/{id}", Title: "Mailing", Group: "Send"}, send, mailingOf, false},
		{browser.Page{Name: "templates", Title: "Templates", Group: "Send"}, send, textsOf, false},
		{browser.Page{Name: "opt-outs", Title: "Opt-outs"}, look, optOutsOf, false},
		{browser.Page{Name: "statistics", Title: "Statistics"}, look, statisticsOf, false},
		{browser.Page{Name: "balance", Title: "Balance"}, look, balanceOf, false},
		{browser.Page{Name: "prices", Title: "Prices", Group: "Balance"}, look, pricesOf, false},
		{browser.Page{Name: "webhooks", Title: "Webhooks"}, look, webhooksOf, false},
		{browser.Page{Name: "keys", Title: "Keys"}, look, keysOf, false},
		{browser.Page{Name: "users", Title: "Users"}, manage, usersOf, false},
		{browser.Page{Name: "password", Title: "Password"}, look, passwordOf, true},
		{browser.Page{Name: "second-factor", Title: "Second factor", Group: "Password"}, look, factorOf, true},
	}
}

// A view is the argument of a template.
type view struct {
	browser.Frame
	Model   any
	Sends   bool           // the user may submit messages
	Manages bool           // the user may change keys, users and templates
	Logo    string         // path of the picture of the reseller; "": none
	Style   string         // path of the style with the reseller's colour; "": none
	zone    *time.Location // of the account
	visit   *visit
}

// Texts returns the templates that the account has, for the pages that send.
func (w *view) Texts() []config.TextTemplate { return textsPage{w.visit}.all() }

// Time writes a time in the zone of the account.
func (w *view) Time(t time.Time) string { return t.In(w.zone).Format(time.DateTime) }

// With returns the view with another model, for a part of a page.
func (w *view) With(model any) *view {
	part := *w
	part.Model = model
	return &part
}

// Fault writes a fault of a mailing.
func (w *view) Fault(f fault) string { return f.text(w.visit) }

// Zone returns the name of the zone of the account.
func (w *view) Zone() string { return w.zone.String() }

// shown returns a handler of the page.
func (p *page) shown() func(*visit) {
	if p.ofPassword {
		return withPassword(p.show)
	}
	return p.show
}

// show answers with the page.
func (p *page) show(v *visit) {
	model, wrong := p.model(v)
	if wrong != nil {
		v.refuse(wrong)
		return
	}
	v.page(http.StatusOK, p.Template(), p.Title, model)
}

// page answers with a page, completely or not at all.
func (v *visit) page(status int, name, title string, model any) {
	var menu []browser.Page
	this := browser.Page{Title: v.T(title)}
	if v.who.account != "" {
		for _, p := range pages() {
			if v.scope < p.scope || p.ofPassword && v.who.subject != "" {
				continue
			}
			if p.Title = v.T(p.Title); p.Group != "" {
				p.Group = v.T(p.Group)
			}
			if menu = append(menu, p.Page); p.Template() == name {
				this = p.Page
			}
		}
	}
	pages := v.site.portal.pages
	pages.Name = brand{v}.name()
	shown := &view{
		Frame: pages.Frame(&this, menu), Model: model, Sends: v.scope >= send, Manages: v.scope >= manage,
		zone: v.zone(), visit: v,
	}
	shown.Words = v.printer()
	shown.Logo, shown.Style = brand{v}.paths()
	if v.who.account != "" {
		shown.User, shown.Notice = v.who.user+", "+v.who.account, v.site.sessions.Notice(v.x.Request)
	}
	b, err := pages.Render(name, shown)
	if err != nil {
		v.rooms().Node.Log.Error().Err(err).Str("page", name).Msg("cannot show a page of the portal")
		v.answer(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte(v.T("This page cannot be shown.")+"\n"))
		return
	}
	v.answer(status, "text/html; charset=utf-8", b)
}

// zone returns the zone of the account, UTC before a login.
func (v *visit) zone() *time.Location {
	if v.x.Account == nil || v.who.account == "" {
		return time.UTC
	}
	return v.x.Account.Config().Zone()
}

// wrong answers with a page that shows an error.
func (v *visit) wrong(status int, text string) {
	v.page(status, "wrong", http.StatusText(status), text)
}

// refuse answers with a problem.
func (v *visit) refuse(p *own.Problem) {
	if p.RetryAfter > 0 {
		v.wait(p.RetryAfter)
	}
	v.wrong(p.Status, v.textOf(p))
}

// textOf returns a problem as text. Its title is in the language of the user, and so are details that these pages write.
func (v *visit) textOf(p *own.Problem) string {
	text, detail := v.T(p.Title), p.Detail
	if !strings.Contains(detail, "|") { // behind one a key would have a remark
		detail = v.T(detail)
	}
	if detail != "" {
		text += ": " + detail
	}
	for _, e := range p.Errors {
		text += "\n" + strings.TrimSpace(strings.TrimPrefix(e.Pointer, "/")+" "+e.Detail)
	}
	return text
}

func (v *visit) missing() { v.wrong(http.StatusNotFound, v.T("There is no such page.")) }

func (v *visit) unknown() {
	v.wrong(http.StatusMethodNotAllowed, v.T("This path does not support the method of the request."))
}

func (v *visit) forged() { v.wrong(http.StatusForbidden, v.T("Another site has sent this request.")) }

func (v *visit) failed() {
	v.wrong(http.StatusInternalServerError, v.T("The request has failed in the gateway."))
}
