package phone

import (
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pmg/internal/browser"
	"pmg/sandbox"
)

//go:embed static
var static embed.FS

// policy allows the pages to load files from this server, and no scripts.
const policy = "default-src 'none'; style-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'self'; " +
	"base-uri 'none'"

// Limits of a reply in octets.
const (
	mostText    = 4096
	mostAddress = 20 // of each number
)

// A Gateway is the gateway behind the mobiles.
type Gateway interface {
	// Clients returns the accounts that get the texts of mobiles.
	Clients() []string
	// Send delivers the text of a mobile for a client, and returns the reason if it was refused; "": it was accepted.
	Send(client, from, to, text string) (refused string)
	// Script returns what the SMSC does now.
	Script() sandbox.Script
	Play(s sandbox.Script)
}

// A page is the model of the template.
type page struct {
	Number, To, Client string
	Numbers, Clients   []string
	Lines              []Line
	Scripts            []script
}

// A script is something that the SMSC can do.
type script struct {
	Name, Does string
	Current    bool
}

// scriptsOf returns what the SMSC can do.
func scriptsOf(g Gateway) (all []script) {
	sandbox.Scripts(func(s sandbox.Script, name, does string) { all = append(all, script{name, does, s == g.Script()}) })
	return all
}

// Handler serves the page of phones, only on loopback.
func Handler(p *Phones, g Gateway) http.Handler {
	pages := template.Must(template.ParseFS(static, "static/*.html"))
	show := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			v := page{Number: r.FormValue("number"), Numbers: p.Numbers(), Clients: g.Clients(), Scripts: scriptsOf(g)}
			if v.Number == "" && len(v.Numbers) > 0 {
				v.Number = v.Numbers[0]
			}
			v.Lines = p.Lines(v.Number)
			for _, l := range v.Lines {
				v.To, v.Client = l.Other, l.Client
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_ = pages.ExecuteTemplate(w, name, v)
		}
	}
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", show("phone.html"))
	m.HandleFunc("GET /texts", show("texts.html"))
	m.HandleFunc("GET /numbers", show("numbers.html"))
	m.HandleFunc(
		"GET /phone.css",
		func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, static, "static/phone.css") },
	)
	m.HandleFunc("POST /reply", replying(p, g))
	m.HandleFunc("POST /script", playing(g))
	guarded := http.NewCrossOriginProtection().Handler(m)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) { // another site's host name that points here
			http.Error(w, "ask for this page by 127.0.0.1 or localhost", http.StatusForbidden)
			return
		}
		browser.Protect(w.Header())
		w.Header().Set("Content-Security-Policy", policy)
		guarded.ServeHTTP(w, r)
	})
}

// replying sends the text of a mobile.
func replying(p *Phones, g Gateway) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 4*mostText)
		number, to, text := strings.TrimSpace(r.FormValue("number")), strings.TrimSpace(r.FormValue("to")), r.FormValue("text")
		client := r.FormValue("client")
		switch {
		case number == "" || to == "" || text == "" || !slices.Contains(g.Clients(), client):
			http.Error(w, "number, to, client and text must be given", http.StatusBadRequest)
			return
		case len(number) > mostAddress || len(to) > mostAddress || len(text) > mostText:
			http.Error(w, "number, to or text is too long", http.StatusBadRequest)
			return
		}
		p.reply(client, number, to, text, g.Send(client, number, to, text))
		http.Redirect(w, r, "/?number="+url.QueryEscape(number), http.StatusSeeOther)
	}
}

// playing makes the SMSC play a script.
func playing(g Gateway) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostText)
		known := false
		sandbox.Scripts(func(s sandbox.Script, name, _ string) {
			if name == r.FormValue("script") {
				known = true
				g.Play(s)
			}
		})
		if !known {
			http.Error(w, "there is no such script", http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, "/?number="+url.QueryEscape(r.FormValue("number")), http.StatusSeeOther)
	}
}

// isLocal reports whether the host of a request is this machine.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}
