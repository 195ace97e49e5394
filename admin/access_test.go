package admin

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/token"
)

// Scopes: a token with scope look sees, one with scope operate changes, and without a token nobody gets
// anything but health. A request from a web page of another site, or for another host, is refused with a
// token, too.
func TestScopes(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), true)
	r.setTokens([]config.Token{
		{Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope},
		{Name: "actor", Hash: token.Hash("pmg_act"), Scope: config.AdministerScope},
	})
	ask := func(method, path, token, origin, host string) (int, string, http.Header) {
		t.Helper()
		q, err := http.NewRequest(method, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if q.Host = host; token != "" {
			q.Header.Set("Authorization", token)
		}
		if origin != "" {
			q.Header.Set("Origin", origin)
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(body), a.Header
	}
	const look, act = "Bearer pmg_look", "bearer pmg_act"
	for _, c := range []struct {
		method, path, token string
		code                int
	}{
		{"GET", "/healthz", "", 200}, {"GET", "/healthz", "Bearer wrong", 200}, {"GET", "/readyz", "", 200},
		{"GET", "/admin/v1/status", "", 401}, {"GET", "/metrics", "Bearer wrong", 401}, {"GET", "/admin/v1/status", "Basic pmg_look", 401}, {"GET", "/admin/v1/status", "Bearer ", 401},
		{"GET", "/admin/v1/status", look, 200}, {"GET", "/metrics", look, 200}, {"GET", "/admin/v1/queue/sums", look, 200}, {"GET", "/admin/v1/queue", look, 200}, {"GET", "/admin/v1/status", act, 200},
		{"GET", "/admin/v1/queue?text=1", look, 403}, {"GET", "/admin/v1/queue?text=1", act, 200},
		{"GET", "/admin/v1/webhooks", "", 401}, {"GET", "/admin/v1/webhooks", look, 200}, {"GET", "/admin/v1/webhooks/attempts", look, 200}, {"GET", "/admin/v1/webhooks/attempts?limit=x", look, 400},
		{"GET", "/admin/v1/webhooks/attempts?replies=1", look, 403}, {"GET", "/admin/v1/webhooks/attempts?replies=1", act, 200}, {"POST", "/admin/v1/webhooks/retry?account=load", look, 403}, {"POST", "/admin/v1/webhooks/retry?account=load", act, 200}, {"POST", "/admin/v1/webhooks/retry?account=x", act, 404},
		{"POST", "/admin/v1/webhooks/enable?account=load", look, 403}, {"POST", "/admin/v1/webhooks/enable?account=load", act, 200}, {"POST", "/admin/v1/webhooks/enable?account=x", act, 404},
		{"POST", "/admin/v1/webhooks/test?account=load", look, 403}, {"POST", "/admin/v1/webhooks/test?account=load", act, 409},
		{"POST", "/admin/v1/mail/test?to=ann@example.net", "", 401}, {"POST", "/admin/v1/mail/test?to=ann@example.net", look, 403}, {"POST", "/admin/v1/mail/test?to=ann@example.net", act, 409},
		{"GET", "/debug/pprof/", look, 403}, {"GET", "/debug/pprof/", act, 200},
		{"POST", "/admin/v1/reload", "", 401}, {"POST", "/admin/v1/reload", look, 403}, {"POST", "/admin/v1/reload", act, 200},
		{"POST", "/admin/v1/kick?account=x", look, 403}, {"POST", "/admin/v1/kick?account=x", act, 404},
		{"POST", "/admin/v1/hold?connector=x", look, 403}, {"POST", "/admin/v1/release?connector=x", look, 403}, {"POST", "/admin/v1/connect?connector=x", look, 403},
		{"POST", "/admin/v1/queue/delete", look, 403}, {"POST", "/admin/v1/store/backup", look, 403}, {"POST", "/admin/v1/store/backup", "", 401},
	} {
		code, body, header := ask(c.method, c.path, c.token, "", "")
		if code != c.code {
			t.Errorf("%s %s with %q: %d %s, want %d", c.method, c.path, c.token, code, body, c.code)
		}
		if challenge := header.Get("WWW-Authenticate"); (code == 401) != strings.HasPrefix(challenge, `Bearer realm="pmg"`) && code != 403 {
			t.Errorf("%s %s with %q: %q", c.method, c.path, c.token, challenge)
		}
		if code == 403 && !strings.Contains(body, "this is not allowed with token looker: it needs a token with scope") {
			t.Errorf("%s %s: %s", c.method, c.path, body)
		}
	}
	for _, l := range Lists() {
		found := http.StatusOK
		switch l.Name {
		case "messages":
			l.Name += "?q=46700000001"
		case "messages/{id}":
			l.Name, found = "messages/00000000000000aa", http.StatusNotFound
		case "stats", "statement", "statement/ledger", numberName, "lists/{name}/export":
			found = http.StatusNotFound // nothing is counted, there are no events, and no list
		}
		for token, want := range map[string]int{"": 401, "Bearer wrong": 401, look: found, act: found} {
			if code, body, header := ask("GET", Base+"/"+l.Name, token, "", ""); code != want || code == 200 && header.Get("Content-Type") != "application/json" {
				t.Errorf("%s with %q: %d %s, want %d", l.Name, token, code, body, want)
			}
		}
		if code, _, _ := ask("POST", Base+"/"+l.Name, act, "", ""); code != 405 {
			t.Errorf("%s with POST: %d", l.Name, code)
		}
	}
	if code, _, _ := ask("POST", "/admin/v1/reload", act, "http://evil.example", ""); code != 403 {
		t.Errorf("from another site: %d", code)
	}
	if code, _, _ := ask("GET", "/admin/v1/status", act, "", "evil.example"); code != 421 {
		t.Errorf("for another host: %d", code)
	}
}

// Without tokens those who reach the loopback address may look, and the user of the socket may do everything.
func TestNoTokens(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), true)
	r.setTokens(nil)
	for _, c := range []struct {
		method, path  string
		remote, local int
	}{
		{"GET", "/admin/v1/status", 200, 200}, {"GET", "/admin/v1/queue", 200, 200}, {"GET", "/admin/v1/queue?text=1", 403, 200}, {"GET", "/debug/pprof/", 403, 200},
		{"POST", "/admin/v1/reload", 403, 200}, {"POST", "/admin/v1/kick?account=x", 403, 404}, {"POST", "/admin/v1/store/backup", 403, 409},
	} {
		for client, want := range map[*http.Client]int{http.DefaultClient: c.remote, r.local(): c.local} {
			q, err := http.NewRequest(c.method, r.url+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := client.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			if _ = a.Body.Close(); a.StatusCode != want {
				t.Errorf("%s %s: %d, want %d", c.method, c.path, a.StatusCode, want)
			}
		}
	}
	if answer, err := client().Get(r.url + "/admin/v1/status"); err != nil || answer.StatusCode != 401 {
		t.Errorf("a token that nobody knows: %v, %v", answer, err)
	}
}

// setTokens puts other tokens in force, as a reload does.
func (r *running) setTokens(tokens []config.Token) {
	cfg := *r.gateway.Node.Config()
	cfg.Admin.Tokens = tokens
	r.gateway.Node.SetConfig(&cfg)
}
