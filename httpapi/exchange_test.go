package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"pmg/httpapi/conns"
	"pmg/internal/httpfault"
	"pmg/internal/testutil"
)

// A request at which the gateway fails is answered as its dialect answers, and logged.
func TestRequestPanics(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := newTestGateway(t, &log)
	g.Table.Account("client").Pull = true
	e := &Engine{api: &api{gateway: g}} // it has no pulls
	l := &listener{gateway: g, connector: g.Table.Connector("api"), log: NewLog(g.Table.Connector("api"), &g.Node.Clock)}
	_, server := socket(t)
	fails := httpfault.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("fault") }), g.Node.Log, func(w http.ResponseWriter, r *http.Request) { e.failed(l, w, r) })
	for path, c := range map[string]struct {
		h    http.Handler
		want string
	}{
		"/v1/events":       {e.handler(l), `"type":"/problems/internal"`},
		"/cgi-bin/sendsms": {fails, "The gateway has failed"},
	} {
		w, want := httptest.NewRecorder(), c.want
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), connKey{}, &conn{Conn: conns.NewTable(func() int { return 1 }).Enter(server, netip.Addr{}), of: l}), http.MethodGet, path, nil)
		r.SetBasicAuth("client", "secret")
		c.h.ServeHTTP(w, r)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), want) || w.Header().Get("Request-Id") == "" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if text := log.String(); strings.Count(text, "a request failed") != 2 {
		t.Error(text)
	}
}
