package web

import (
	"context"
	"embed"
	"net/http"
	"sync"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/manage"
	"pmg/cluster/report"
	"pmg/config"
	"pmg/internal/browser"
	"pmg/internal/httpfault"
	"pmg/internal/oidc"
)

//go:embed templates
var templateFiles embed.FS

// A site is the pages of one gateway.
type site struct {
	Tools
	browser.Site
	server    *admin.Server
	menu      []browser.Page
	lists     lists
	details   details
	routes    routes
	explainer explainer
	sheets    sheets
	logins    *oidc.Logins
	trying    sync.Mutex    // held while a configuration is tried on traffic
	followers chan struct{} // one place for each stream of the pdu log
}

// Tools are functions of the program that the pages use. The zero value has none.
type Tools struct {
	// Explain describes what a gateway with a configuration would do with a message.
	Explain func(c *config.Config, q Question) (string, error)
	Pending func(ctx context.Context) (changes string, err error) // returns the changes of a reload, as lines for people
	// WhatIf tries a configuration on traffic, or that of the files if next is nil.
	WhatIf func(ctx context.Context, next *config.Config, t Traffic) (*Trial, error)
	Edit   manage.Edit               // changes a managed file; nil: the gateway has no managed files
	Find   func(word string) []Found // finds commands, options and documents
	// Cluster returns this node's knowledge about its cluster; nil: there is no cluster.
	Cluster func() *report.Report
}

// Handler returns the handler of a server's pages. It is an admin.Pages.
func (t Tools) Handler(server *admin.Server) http.Handler {
	s := &site{
		Tools: t, Site: browser.NewSite(admin.PagesBase, "PMG", templateFiles), server: server,
		followers: make(chan struct{}, mostFollowers),
	}
	s.lists.server, s.details.server = server, server
	s.lists.edits, s.details.edits = t.Edit != nil, t.Edit != nil
	s.logins = oidc.New(time.Now)
	o := &office{s}
	s.routes = routes{t, server, &s.explainer, o}
	m := http.NewServeMux()
	pages := s.pages()
	for i := range pages {
		p := &pages[i]
		s.menu = append(s.menu, p.Page)
		show, stream := s.show(p), s.stream(p)
		switch p.Name {
		case pduLogName:
			show, stream = private(p.Name, "texts", show), private(p.Name, "texts", s.follow)
		case hooksName:
			show, stream = private("webhooks", "replies", show), private("webhooks", "replies", stream)
		}
		if p.Name == managedName+"/{name}" {
			m.Handle("POST "+s.Base+p.Name, s.allow(access.Administer, server.Limited(o.manages(p))))
			m.Handle("GET "+s.Base+managedName+"/open", s.allow(access.Look, server.Limited(o.openManaged)))
		}
		if p.Name == "routing" && t.Edit != nil {
			m.Handle("POST "+s.Base+p.Name, s.allow(access.Administer, server.Limited(o.moves)))
		}
		if p.Name == newName {
			m.Handle("POST "+s.Base+p.Name, s.allow(access.Administer, server.Limited(o.makes(p))))
		}
		if p.Name == tryName {
			m.Handle("POST "+s.Base+tryName, s.allow(access.Look, server.Limited(s.tries(p))))
		}
		if p.isSearch() {
			m.Handle("GET "+s.Base+p.Name, s.allow(access.Look, server.Limited(s.search(p))))
			continue
		}
		m.Handle("GET "+s.Base+p.Pattern(), s.allow(access.Look, server.Limited(show)))
		m.Handle("GET "+s.Base+"stream/"+p.Pattern(), s.allow(access.Look, server.Streams(stream)))
	}
	for _, a := range admin.Actions() {
		m.Handle("POST "+s.Base+"act/"+a.Name, s.allow(a.Scope, server.Limited(s.carryOut(&a))))
	}
	m.Handle("GET "+s.Base+"login", server.Limited(s.login))
	m.Handle("POST "+s.Base+"login", server.Unlimited(s.begin))
	m.Handle("GET "+s.Base+"login/other", server.Limited(s.beginOther))
	m.Handle("GET "+callbackPath, server.Limited(s.endOther))
	m.Handle("POST "+s.Base+"logout", server.Limited(s.logout))
	missing := &page{browser.Page{Title: "Not found"}, func(*http.Request) any { return nil }}
	m.Handle("GET "+s.Base, s.allow(access.Look, server.Limited(s.show(missing))))
	m.Handle("GET "+s.Base+"static/", server.Limited(s.Static().ServeHTTP))
	return protected(httpfault.Handler(m, server.Gateway().Node.Log, s.failed))
}

// failed answers a request whose handler has panicked.
func (s *site) failed(w http.ResponseWriter, r *http.Request) {
	s.write(
		w, http.StatusInternalServerError, "failed",
		&view{Frame: s.Frame(&browser.Page{Title: "This page cannot be shown"}, s.menu)},
	)
}

// protected adds headers that restrict what a page's content can do.
func protected(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser.Protect(w.Header())
		h.ServeHTTP(w, r)
	})
}

// allow serves the requests of users who have a scope, and redirects others to the login.
func (s *site) allow(needed access.Scope, h http.Handler) http.Handler {
	return s.server.Guard().MayOrLogin(needed, h, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.LoginPath(r), http.StatusSeeOther)
	})
}
