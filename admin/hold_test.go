package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// O17, O24: an operator holds, releases and connects. A web page of another site may not. A held
// SMSC is a problem, and no reason to keep clients away.
func TestHold(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig+"  - {destination: \"9\", to: operator}\n", t.TempDir(), sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	ask := func(method, path, origin string) (int, string) {
		t.Helper()
		q, err := http.NewRequest(method, r.url+path, nil)
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
	for _, path := range []string{"/admin/v1/hold", "/admin/v1/release", "/admin/v1/connect"} {
		for _, c := range []struct {
			method, query, origin string
			code                  int
			body                  string
		}{
			{"GET", "connector=operator", "", 405, ""},
			{"POST", "connector=operator", "http://elsewhere.example", 403, ""},
			{"POST", "", "", 404, "no such connector"},
			{"POST", "connector=operatr", "", 404, "did you mean operator?"},
			{"POST", "connector=clients", "", 409, "connector clients is for clients"},
		} {
			if code, body := ask(c.method, path+"?"+c.query, c.origin); code != c.code || !strings.Contains(body, c.body) {
				t.Errorf("%s %v: got %d %q", path, c, code, body)
			}
		}
	}
	if code, body := ask("POST", "/admin/v1/hold?connector=operator&for=soon", ""); code != 400 || !strings.Contains(body, "for must be a duration") {
		t.Errorf("%d %q", code, body)
	}
	if code, body := ask("POST", "/admin/v1/release?connector=operator", ""); code != 409 || !strings.Contains(body, "connector operator is not held") {
		t.Errorf("%d %q", code, body)
	}
	code, body := ask("POST", "/admin/v1/hold?connector=operator&for=1h", "")
	var held Ordered
	if err := json.Unmarshal([]byte(body), &held); code != 200 || err != nil || held.Connector != "operator" || held.Held == nil || held.Held.Until.Sub(held.Held.Since).Hours() < 0.99 || held.Instances != 2 {
		t.Errorf("%d %s", code, body)
	}
	c := r.status().Connectors[1]
	if c.State != "held" || c.Held == nil || !strings.HasPrefix(c.Held.By, "token test from 127.0.0.1:") {
		t.Errorf("%+v", c)
	}
	if code, body := r.get("/readyz?of=node"); code != 200 || body != "ok\n" {
		t.Errorf("a node whose SMSC is down: %d %s", code, body)
	}
	if code, _ := r.get("/readyz?of=nodes"); code != 400 {
		t.Errorf("readiness of something else: %d", code)
	}
	if code, body := r.get("/readyz"); code != 503 || !strings.Contains(body, "route of all messages (line 12) has no target that works: connector operator: an operator holds it") {
		t.Errorf("all routes lead to an SMSC that is held: %d %q", code, body)
	}
	if _, text := r.get("/metrics"); !strings.Contains(text, `pmg_connector_held{connector="operator"} 1`) ||
		!strings.Contains(text, `pmg_connector_info{connector="operator",direction="out",protocol="smpp",static="yes"} 1`) {
		t.Error("the metrics do not show it")
	}
	if code, body := ask("POST", "/admin/v1/release?connector=operator", ""); code != 200 || strings.Contains(body, "held") {
		t.Errorf("%d %q", code, body)
	}
	if code, _ := ask("POST", "/admin/v1/connect?connector=operator", ""); code != 200 {
		t.Errorf("connect: %d", code)
	}
	r.await("/readyz", 200, "ok\n")
}
