package v1

import (
	_ "embed"
	"net/http"

	"pmg/httpapi/reference"
	"pmg/httpapi/server"
	"pmg/internal/browser"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// openapi is the contract of our own API (OpenAPI 3.1). Tests check each answer against it.
//
//go:embed openapi.json
var openapi []byte

const htmlType = "text/html; charset=utf-8"

// pages adds the paths that are served without a login: the contract, the pages about it, and the files that they load.
func (a *API) pages(l *server.Listener, m *http.ServeMux) {
	pages := reference.New(openapi)
	files := pages.Files()
	m.HandleFunc("GET /problems/{name}", a.page(l, htmlType, pages.Problem))
	m.HandleFunc("GET /v1/openapi.json", a.page(l, "application/json", func(*http.Request) []byte { return openapi }))
	m.HandleFunc("GET "+reference.Path, a.page(l, htmlType, pages.Docs))
	m.HandleFunc("GET "+reference.Static, func(w http.ResponseWriter, r *http.Request) {
		x := l.Begin(w, r)
		defer x.End()
		browser.Protect(w.Header())
		files.ServeHTTP(w, r)
	})
}

// page returns a handler that answers with a page, without a login. A nil page means that there is none.
func (a *API) page(l *server.Listener, kind string, make func(*http.Request) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := a.begin(l, w, r)
		body := make(r)
		if body == nil {
			h.problem(own.NewProblem("not-found", "there is no "+r.URL.Path))
			return
		}
		browser.Protect(w.Header())
		h.x.Answer(&httpsms.Answer{Status: http.StatusOK, ContentType: kind, Body: body})
		h.x.LogRequest(httpsms.Ask, nil, http.StatusOK, httpsms.Result{})
	}
}
