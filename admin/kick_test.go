package admin

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pmg/connector/streams"
	"pmg/internal/testkit/testutil"
)

// U8: an operator ends sessions with a logout. A web page of another site may not.
func TestKick(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), false)
	r.bound()
	ask := func(method, query, origin string) (int, string) {
		t.Helper()
		q, err := http.NewRequest(method, r.url+"/admin/v1/kick?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			q.Header.Set("Origin", origin)
		}
		a, err := client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(body)
	}
	for _, c := range []struct {
		method, query, origin string
		code                  int
		body                  string
	}{
		{"GET", "session=operator/1", "", 405, ""},
		{"POST", "session=operator/1", "http://elsewhere.example", 403, ""},
		{"POST", "", "", 400, "cannot end sessions"},
		{"POST", "session=operator/9", "", 404, "there is no session operator/9"},
		{"POST", "account=nobody", "", 404, "there is no session of account nobody"},
	} {
		if code, body := ask(c.method, c.query, c.origin); code != c.code || !strings.Contains(body, c.body) {
			t.Errorf("%v: got %d %q", c, code, body)
		}
	}
	opened := r.status().Connectors[1].Opened
	if code, body := ask("POST", "session=operator/1", ""); code != 200 || body != `{"sessions":["operator/1"]}`+"\n" {
		t.Errorf("got %d %q", code, body)
	}
	testutil.Eventually(t, "it is connected again", func() bool { return r.status().Connectors[1].Opened > opened })
	r.bound()

	var all []*streams.Stream
	for number := range uint32(3) {
		one := &streams.Stream{Number: number + 1, Account: []string{"load", "bar", "load"}[number], Kind: "stream", May: func() bool { return true }, Cut: func() {}}
		r.gateway.Table.Connector("clients").Streams.Begin(one)
		all = append(all, one)
	}
	if _, body := r.get("/admin/v1/status?sessions=1"); !strings.Contains(body, `"connector":"clients","number":2,`) || !strings.Contains(body, `"account":"bar","bind":"stream"`) {
		t.Errorf("requests that last are not among the sessions: %s", body)
	}
	if code, body := ask("POST", "session=clients/2", ""); code != 200 || body != `{"sessions":["clients/2"]}`+"\n" {
		t.Errorf("got %d %q", code, body)
	}
	if code, body := ask("POST", "account=load", ""); code != 200 || body != `{"sessions":["clients/1","clients/3"]}`+"\n" {
		t.Errorf("got %d %q", code, body)
	}
	for _, one := range all {
		if one.Reason() != streams.Kicked {
			t.Errorf("number %d goes on", one.Number)
		}
	}
}
