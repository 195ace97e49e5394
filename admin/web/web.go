package web

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/manage"
	"pmg/admin/oidc"
	"pmg/cluster/report"
	"pmg/config"
	"pmg/internal/browser"
	"pmg/internal/httpfault"
)

//go:embed templates/*.html
var templateFiles embed.FS

// A site is the pages of one gateway.
type site struct {
	Tools
	server    *admin.Server
	pages     []page
	templates map[string]*template.Template // by the names of pages
	lists     lists
	details   details
	routes    routes
	explainer explainer
	provider  *oidc.Provider
	followers chan struct{} // has a place for each stream of the pdu log
}

// Tools are what the program does for the pages. The zero value does nothing.
type Tools struct {
	// says what a gateway with a configuration would do with a message
	Explain func(c *config.Config, q Question) (string, error)
	Pending func(ctx context.Context) (changes string, err error) // says what a reload would do, in lines for people
	Edit    manage.Edit                                           // changes a managed file; nil: there are none
	// says what this node knows of its cluster; nil: the gateway is alone
	Cluster func() *report.Report
}

// Handler serves the pages of a server. It is admin.Pages.
func (t Tools) Handler(server *admin.Server) http.Handler {
	s := &site{
		Tools: t, server: server, templates: map[string]*template.Template{}, followers: make(chan struct{}, mostFollowers),
	}
	s.lists.server, s.details.server = server, server
	s.provider = oidc.New(func() *config.OIDC {
		if c := &server.Gateway().Node.Config().Admin.OIDC; c.IsSet() {
			return c
		}
		return nil
	}, time.Now)
	s.routes = routes{t, server, &s.explainer}
	s.pages = s.table()
	for _, name := range append(s.names(), "login", "loggedin", "missing", "failed") {
		s.templates[name] = template.Must(
			template.ParseFS(
				templateFiles, "templates/layout.html", "templates/parts.html", "templates/hour.html",
				"templates/"+name+".html",
			),
		)
	}
	m := http.NewServeMux()
	for i := range s.pages {
		p := &s.pages[i]
		show, stream := s.show(p), s.stream(p)
		switch p.Name {
		case pduLogName:
			show, stream = private(p.Name, "texts", show), private(p.Name, "texts", s.follow)
		case hooksName:
			show, stream = private("webhooks", "replies", show), private("webhooks", "replies", stream)
		}
		if p.Name == managedName+"/{name}" {
			m.Handle("POST "+admin.PagesBase+p.Name, s.allow(access.Administer, server.Limited(s.manages(p))))
			m.Handle("GET "+admin.PagesBase+managedName+"/open", s.allow(p.Scope, server.Limited(s.openManaged)))
		}
		if p.Name == tryName {
			m.Handle("POST "+admin.PagesBase+tryName, s.allow(p.Scope, server.Limited(s.tries(p))))
		}
		if p.IsSearch() {
			m.Handle("GET "+admin.PagesBase+p.Name, s.allow(p.Scope, server.Limited(s.search(p))))
			continue
		}
		m.Handle("GET "+admin.PagesBase+p.Name+end(p.Name), s.allow(p.Scope, server.Limited(show)))
		m.Handle("GET "+admin.PagesBase+"stream/"+p.Name+end(p.Name), s.allow(p.Scope, server.Streams(stream)))
	}
	for _, a := range admin.Actions() {
		m.Handle("POST "+admin.PagesBase+"act/"+a.Name, s.allow(a.Scope, server.Limited(s.carryOut(&a))))
	}
	m.Handle("GET "+admin.PagesBase+"login", server.Limited(s.login))
	m.Handle("POST "+admin.PagesBase+"login", server.Unlimited(s.begin))
	m.Handle("GET "+admin.PagesBase+"login/other", server.Limited(s.beginOther))
	m.Handle("GET "+oidc.Path, server.Limited(s.endOther))
	m.Handle("POST "+admin.PagesBase+"logout", server.Limited(s.logout))
	m.Handle(
		"GET "+admin.PagesBase,
		s.allow(access.Look, server.Limited(s.show(&page{Title: "Not found", model: func(*http.Request) any { return nil }}))),
	)
	m.Handle("GET "+admin.PagesBase+"static/", http.StripPrefix(admin.PagesBase+"static/", server.Limited(browser.Static())))
	return protected(httpfault.Handler(m, server.Gateway().Node.Log, s.failed))
}

// failed answers a request at which its handler has panicked.
func (s *site) failed(w http.ResponseWriter, r *http.Request) {
	s.write(
		w, http.StatusInternalServerError, "failed",
		&view{Page: &page{}, Title: "This page cannot be shown", Pages: s.pages, Caller: access.CallerOf(r)},
	)
}

// end ends the pattern of the first page, whose path would match those of all others.
func end(name string) string {
	if name == "" {
		return "{$}"
	}
	return ""
}

func (s *site) names() (all []string) {
	for i := range s.pages {
		all = append(all, s.pages[i].template())
	}
	return all
}

// protected adds the headers that keep a page's content from doing anything.
func protected(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser.Protect(w.Header())
		h.ServeHTTP(w, r)
	})
}

// allow serves those who have a scope, and leads others to the login.
func (s *site) allow(needed access.Scope, h http.Handler) http.Handler {
	return s.server.Guard().MayOrLogin(needed, h, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, loginPath(r), http.StatusSeeOther)
	})
}
