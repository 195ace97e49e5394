package phone

import (
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"pmg/internal/browser"
)

//go:embed static
var static embed.FS

// policy allows the pages to load files from this server, and no scripts.
const policy = "default-src 'none'; style-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'self'; " +
	"base-uri 'none'"

// mostText is the maximum length of a reply in octets.
const mostText = 4096

// A Send delivers the text of a mobile to the gateway, and returns the reason if it was refused; "": it was accepted.
type Send func(from, to, text string) (refused string)

// A page is the model of the template.
type page struct {
	Number, To string
	Numbers    []string
	Lines      []Line
}

// Handler serves the page of phones, only on loopback.
func Handler(p *Phones, send Send) http.Handler {
	pages := template.Must(template.ParseFS(static, "static/*.html"))
	show := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			v := page{Number: r.FormValue("number"), Numbers: p.Numbers()}
			if v.Number == "" && len(v.Numbers) > 0 {
				v.Number = v.Numbers[0]
			}
			v.Lines = p.Lines(v.Number)
			for _, l := range v.Lines {
				v.To = l.Other
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
	m.HandleFunc("POST /reply", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 4*mostText)
		number, to, text := strings.TrimSpace(r.FormValue("number")), strings.TrimSpace(r.FormValue("to")), r.FormValue("text")
		if number == "" || to == "" || text == "" || len(text) > mostText {
			http.Error(w, "number, to and text must be given", http.StatusBadRequest)
			return
		}
		p.reply(number, to, text, send(number, to, text))
		http.Redirect(w, r, "/?number="+url.QueryEscape(number), http.StatusSeeOther)
	})
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

// isLocal reports whether the host of a request is this machine.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}
