package admin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request at which a handler fails is answered with a problem, and / leads to the pages.
func TestFailedRequest(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	s := newServer(r.gateway.Node.Config().Admin, r.gateway, r.engine, "test", Parts{Pages: func(*Server) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("fault") })
	}})
	for path, want := range map[string]string{PagesBase: `500 application/problem+json {"type":"about:blank"`, "/": "303 text/html"} {
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil))
		if got := w.Result().Status[:3] + " " + w.Header().Get("Content-Type") + " " + w.Body.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// The log says where a browser finds the pages.
func TestPagesURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"127.0.0.1:2780": "http://127.0.0.1:2780/ui/", "0.0.0.0:2780": "http://localhost:2780/ui/", "[::]:2780": "http://localhost:2780/ui/"} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := pagesURL(false, a); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}
