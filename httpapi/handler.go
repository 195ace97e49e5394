package httpapi

import (
	"net/http"
	"strings"

	"pmg/internal/httpfault"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// dialects returns what adds the paths of each dialect to those of a listener, by the dialect's name in the configuration.
func (x *Engine) dialects() map[string]func(*listener, *http.ServeMux) {
	return map[string]func(*listener, *http.ServeMux){
		"pmg":    x.api.routes,
		"kannel": x.compat.kannelRoutes,
		"jasmin": x.compat.jasminRoutes,
	}
}

// handler returns what answers the requests of a connector: each of its dialects at paths of its own.
func (x *Engine) handler(l *listener) http.Handler {
	m := http.NewServeMux()
	callbackRoutes(l, m, x.outboundOf)
	all := x.dialects()
	for _, name := range l.connector.Config().HTTP.Dialects {
		all[name](l, m)
	}
	failed := func(w http.ResponseWriter, r *http.Request) { x.failed(l, w, r) }
	return httpfault.Handler(m, l.gateway.Node.Log.With().Str("connector", l.connector.Name).Logger(), failed)
}

// failed answers a request at which its handler has panicked.
func (x *Engine) failed(l *listener, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		x.api.begin(l, w, r).problem(own.NewProblem("internal", ""))
		return
	}
	l.exchange(w, r).asked(&httpsms.Answer{
		Status: http.StatusInternalServerError, ContentType: "text/plain; charset=utf-8",
		Body: []byte("The gateway has failed at the request: its log says why.\n"),
	})
}
