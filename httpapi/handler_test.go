package httpapi

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/portal"
	"pmg/httpapi/server"
	"pmg/httpapi/v1"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
)

// Each dialect of the configuration has paths.
func TestDialects(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[httpsms.ConnectorOptions]().FieldByName("Dialects")
	all := (&Engine{}).dialects()
	for name := range strings.SplitSeq(field.Tag.Get("enum"), "|") {
		if all[name] == nil {
			t.Errorf("%s has none", name)
		}
	}
}

// A request at which the gateway fails is answered as its dialect answers, and logged.
func TestRequestPanics(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := apitest.NewGateway(t, &log)
	g.Table.Account("client").Pull = true
	x := &Engine{gateway: g, api: v1.New(forOwnAPI(g), nil, nil), portal: portal.New(portal.Rooms{})} // it has neither events nor another dialect
	l, err := server.Listen(forServer(g), g.Table.Connector("api"), nil, body.NewRoom(&g.Node.Memory), nil, x.handler)
	if err != nil {
		t.Fatal(err)
	}
	l.Serve()
	t.Cleanup(l.Close)
	for path, want := range map[string]string{
		"/v1/events": `"type":"/problems/internal"`,
		"/cgi-bin/sendsms?username=client&password=secret&to=4671&text=a": "The gateway has failed",
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addresses()[0].String()+path, nil)
		r.SetBasicAuth("client", "secret")
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(w.Body)
		w.Body.Close()
		if w.StatusCode != http.StatusInternalServerError || !strings.Contains(string(body), want) || w.Header.Get("Request-Id") == "" {
			t.Errorf("%s: %d %s", path, w.StatusCode, body)
		}
	}
	if text := log.String(); strings.Count(text, "a request failed") != 2 {
		t.Error(text)
	}
}
