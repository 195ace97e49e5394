package httpapi

import (
	"net/http"
	"strings"

	"pmg/httpapi/httpsmsc"
	"pmg/httpapi/server"
	"pmg/internal/httpfault"
	"pmg/protocols/httpsms"
)

// dialects returns, by name in the configuration, the functions that add the paths of a dialect to a listener.
func (x *Engine) dialects() map[string]func(*server.Listener, *http.ServeMux) {
	return map[string]func(*server.Listener, *http.ServeMux){
		"pmg":    x.api.Routes,
		"kannel": x.compat.KannelRoutes,
		"jasmin": x.compat.JasminRoutes,
	}
}

// handler returns the handler of a connector's requests, which serves each dialect and the pages for
// customers at paths of their own.
func (x *Engine) handler(l *server.Listener) http.Handler {
	m := http.NewServeMux()
	httpsmsc.Routes(l, m, func(name string) *httpsmsc.SMSC { return x.smscOf(x.gateway.Table.Connector(name)) })
	all := x.dialects()
	for _, name := range l.Connector.Config().HTTP.Dialects {
		all[name](l, m)
	}
	pages := x.portal.Site(l)
	serve := func(w http.ResponseWriter, r *http.Request) {
		if pages.Serves(r) {
			pages.ServeHTTP(w, r)
		} else {
			m.ServeHTTP(w, r)
		}
	}
	failed := func(w http.ResponseWriter, r *http.Request) {
		if pages.Serves(r) {
			pages.Failed(w, r)
		} else {
			x.failed(l, w, r)
		}
	}
	log := x.gateway.Node.Log.With().Str("connector", l.Connector.Name).Logger()
	return httpfault.Handler(http.HandlerFunc(serve), log, failed)
}

// failed answers a request whose handler has panicked.
func (x *Engine) failed(l *server.Listener, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		x.api.Failed(l, w, r)
		return
	}
	l.Begin(w, r).AnswerAsk(&httpsms.Answer{
		Status: http.StatusInternalServerError, ContentType: "text/plain; charset=utf-8",
		Body: []byte("The gateway has failed at the request: its log says why.\n"),
	})
}
