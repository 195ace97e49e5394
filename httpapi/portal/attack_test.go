package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/config"
	browserpages "pmg/internal/browser"
	"pmg/internal/token"
)

// forms are what may be posted, with the scope that it needs.
func forms() map[string]struct {
	needs scope
	form  url.Values
	done  int // the status where it is done, or could be
} {
	return map[string]struct {
		needs scope
		form  url.Values
		done  int
	}{
		"send":          {send, url.Values{"from": {"Shop"}, "to": {"+46700000001"}, "text": {"hello"}}, 303},
		"second-factor": {look, url.Values{"code": {"000000"}}, 409},
		"mailing":       {send, url.Values{"text": {"hello"}}, 415},
		"opt-outs":      {send, url.Values{"number": {"+46700000001"}}, 404},
		"webhooks":      {manage, url.Values{"do": {"url"}, "url": {"https://shop.example/"}}, 409},
		"templates":     {manage, url.Values{"name": {"late"}, "text": {"hello"}}, 409},
		"keys":          {manage, url.Values{"name": {"till"}}, 409},
		"users":         {manage, url.Values{"name": {"look"}, "reset": {"1"}}, 409},
		"password":      {look, url.Values{"current": {password}, "password": {"battery staple"}, "again": {"battery staple"}}, 409},

		"mailing/0123456789abcdef": {send, url.Values{"send": {"1"}}, 404},
	}
}

// Each page and each form is served to those who have its scope, and to nobody else: by user, and as strangers of all kinds. The
// others are led to the login.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	operator := r.stranger("127.0.0.1")
	operator.client.Jar.SetCookies(&url.URL{Scheme: "http", Host: "127.0.0.1"}, []*http.Cookie{{Name: "pmg", Value: token.New()}, {Name: "pmg-portal", Value: token.New()}})
	out := r.user("shop", config.ManageScope)
	if w := out.post("logout"); w.code != 303 || w.header.Get("Location") != Base+"login" {
		t.Errorf("%+v", w)
	}
	all := map[string]struct {
		*person
		scope scope
	}{
		"a stranger": {r.stranger("127.0.0.1"), -1}, "with a cookie of the operators' pages": {operator, -1}, "who has logged out": {out, -1},
		"look": {r.user("shop", config.LookScope), look}, "send": {r.user("shop", config.SendScope), send},
		"manage": {r.user("shop", config.ManageScope), manage},
	}
	for name, who := range all {
		check := func(path string, w reply, needs scope, done int) {
			t.Helper()
			want := done
			switch {
			case who.scope < 0:
				want = 303
			case who.scope < needs:
				want = 403
			}
			to := w.header.Get("Location")
			if w.code != want || (who.scope < 0) != strings.HasPrefix(to, Base+"login") {
				t.Errorf("%s: %s: %d to %q, not %d", name, path, w.code, to, want)
			}
			if w.header.Get("Content-Security-Policy") != browserpages.Policy || w.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, w.header)
			}
		}
		for _, p := range pages() {
			done := 200
			if strings.Contains(p.Name, "{id}") {
				done = 404
			}
			check(p.Name, who.get(strings.Replace(p.Name, "{id}", "0123456789abcdef", 1)), p.scope, done)
		}
		for _, file := range []string{"statistics.csv", "opt-outs.csv", "prices.csv"} { // there is none of them
			check(file, who.get(file), look, 404)
		}
		check("messages.csv", who.get("messages.csv"), look, 200)
		check("nothing", who.get("nothing"), look, 404)
		for path, f := range forms() {
			check(path, who.do("POST", path, f.form), f.needs, f.done)
		}
		if w := who.do("POST", "nothing", url.Values{}); w.code != 405 {
			t.Errorf("%s: %+v", name, w)
		}
	}
	for range 2 { // by those with send and manage
		r.SMSC.Accept("x")
	}
	if !r.SMSC.Idle() {
		t.Error("somebody has sent who may not")
	}
}

// All that may be wrong with a login is answered alike, and as late: nobody learns which accounts and users there are. The
// credentials of the API and of sessions do not log in, and no user's password is one of the API.
func TestLogin(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	var mu sync.Mutex
	seen := map[string]string{}
	t.Run("wrong", func(t *testing.T) {
		for i, c := range [][3]string{
			{"shop", "look", "wrong"}, {"shop", "nobody", password}, {"nobody", "look", password}, {"bare", "look", password},
			{"shop", "shop", "secret"}, {"bare", "bare", "secret"}, {"shop", "look ", password},
		} {
			t.Run(strings.Join(c[:], "/"), func(t *testing.T) {
				t.Parallel()
				b := r.stranger("127.0.1." + strconv.Itoa(i+1))
				began := time.Now()
				w := b.post("login", "account", c[0], "name", c[1], "password", c[2])
				body := strings.NewReplacer(`value="`+c[0]+`"`, "", `value="`+c[1]+`"`, "").Replace(w.body)
				if w.code != 403 || w.header.Get("Set-Cookie") != "" || time.Since(began) < 900*time.Millisecond || strings.Contains(w.body, c[2]) && c[2] != "wrong" {
					t.Errorf("%+v", w)
				}
				mu.Lock()
				seen[body] = c[0]
				mu.Unlock()
				if b.in() {
					t.Error("is logged in")
				}
				tried := fmt.Sprintf("unknown 127.0.1.%d portal/login map[account:%s name:%s]: refused\n", i+1, c[0], c[1])
				if !r.records.has(tried) || r.records.has(c[2]+"]") && c[2] == password {
					t.Errorf("%s: %q", tried, r.records.lines)
				}
			})
		}
	})
	if len(seen) != 1 {
		t.Errorf("%d answers: %v", len(seen), seen)
	}
	for _, c := range [][]string{{"account", "shop", "password", "secret"}, {"account", "shop", "name", "", "password", "secret"}, {"account", "shop", "name", "look", "password", strings.Repeat("x", 256)}} {
		if w := r.stranger("127.0.2.1").post("login", c...); w.code != 400 || w.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %+v", c, w)
		}
	}
	if w := r.stranger("127.0.2.2").get("", "Authorization", "Basic c2hvcDpzZWNyZXQ="); w.code != 303 {
		t.Errorf("the account's password is taken: %+v", w)
	}
	b := r.user("shop", config.SendScope)
	first := b.client.Jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(r.base, "http://"), Path: "/"})
	if w := b.post("login", "account", "shop", "name", "look", "password", password, "next", Base+"keys"); w.code != 303 || w.header.Get("Location") != Base+"keys" {
		t.Errorf("%+v", w)
	}
	again := r.stranger("127.0.0.1")
	again.client.Jar.SetCookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(r.base, "http://"), Path: "/"}, first)
	if again.in() || !b.in() {
		t.Error("the session before another login goes on, or that does not")
	}
}

// A session ends immediately when its user, the password, the account, what the account may use or the pages go, and does not go on when
// they come back.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "}\n  - {name: other, direction: in, protocol: http, address: \"127.0.0.1:0\"")
	other := strings.Replace(hash(), "$2a$04$", "$2a$05$", 1)
	for name, yaml := range map[string]string{
		"the user": strings.ReplaceAll(r.yaml, "name: look", "name: other"), "the password": strings.ReplaceAll(r.yaml, hash(), other),
		"the account":   strings.Replace(r.yaml, "system_id: shop", "system_id: shop2", 1),
		"the connector": strings.Replace(r.yaml, "{system_id: shop,", "{system_id: shop, connectors: [other],", 1),
		"the network":   strings.Replace(r.yaml, "{system_id: shop,", "{system_id: shop, networks: 192.0.2.1,", 1),
		"the pages":     strings.Replace(r.yaml, "portal: true", "portal: false", 1),
	} {
		r.Reload(r.yaml)
		b := r.user("shop", config.LookScope)
		if !b.in() {
			t.Fatal("is not logged in")
		}
		r.Reload(yaml)
		if b.in() {
			t.Errorf("%s has gone, and the session goes on", name)
		}
		if w := b.get("static/pmg.css"); (w.code == 200) != (name != "the pages") {
			t.Errorf("%s: %d", name, w.code)
		}
		r.Reload(r.yaml)
		if b.in() {
			t.Errorf("%s is back, and so is the session", name)
		}
	}
	b := r.user("shop", config.LookScope)
	r.Reload(strings.Replace(r.yaml, "scope: look", "scope: send", 1))
	b.has("send", "<h1>Send</h1>")
}

// Nothing of another account is on a page, whoever guesses its ids; what is another's is answered as what does not exist.
func TestOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", webhook: \"http://shop.example/\""), "", "")
	rival, shop := r.user("rival", config.ManageScope), r.user("shop", config.ManageScope)
	id := rival.sendText("+46700000077", "of the rival")
	rival.has("messages/"+id, "46700000077")
	r.SMSC.Accept("rival1")
	r.Settled()
	rival.has("messages", id)
	rival.has("messages/"+id, "46700000077")
	none := "0123456789abcdef"
	for _, path := range []string{"messages/", "messages?q=", "messages/00000000-0000-7000-8000-"} {
		theirs, unknown := shop.get(path+id), shop.get(path+none)
		if theirs.code != unknown.code || strings.ReplaceAll(theirs.body, id, "ID") != strings.ReplaceAll(unknown.body, none, "ID") {
			t.Errorf("%s: %+v is not %+v", path, theirs, unknown)
		}
	}
	for _, p := range pages() {
		path := strings.Replace(p.Name, "{id}", id, 1)
		for _, path := range []string{path, path + "?account=rival&q=46700000077&name=rival"} {
			if w := shop.get(path); strings.Contains(w.body, "rival") || strings.Contains(strings.ReplaceAll(w.body, `value="46700000077"`, ""), "46700000077") {
				t.Errorf("%s: %s", path, w.body)
			}
		}
	}
	if w := rival.get("webhooks"); strings.Contains(w.body, "shop") {
		t.Errorf("%+v", w)
	}
}

// No other site has anything done, whichever header says where a request comes from, and nobody logs a user in from elsewhere.
func TestForged(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.ManageScope)
	for _, headers := range [][]string{
		{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "http://127.0.0.1:1"}, {"Host", "evil.example", "Origin", r.base},
	} {
		all := map[string]url.Values{"logout": {}, "login": {"account": {"shop"}, "name": {"look"}, "password": {password}}, "code": {"code": {"000000"}}}
		for path, f := range forms() {
			all[path] = f.form
		}
		for path, f := range all {
			if w := b.do("POST", path, f, headers...); w.code != 403 || w.header.Get("Set-Cookie") != "" {
				t.Errorf("%s with %q: %+v", path, headers, w)
			}
		}
	}
	if w := b.get("", "Sec-Fetch-Site", "cross-site"); w.code != 200 { // a link that leads here
		t.Errorf("%+v", w)
	}
	if !b.in() || !r.SMSC.Idle() {
		t.Error("another site has logged the user out, or sent")
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"} {
		if w := b.do(method, "keys", nil); w.code != 405 {
			t.Errorf("%s: %+v", method, w)
		}
	}
}

// Bodies that are too large, of another type or broken, paths with tricks, and values that would be markup or headers do no harm.
func TestHostile(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.ManageScope)
	large := url.Values{"to": {"+46700000001"}, "from": {"Shop"}, "text": {strings.Repeat("a", 1<<20)}}
	for _, path := range []string{"send", "keys", "login"} {
		if w := b.do("POST", path, large); w.code != 413 {
			t.Errorf("%s: %d", path, w.code)
		}
		if w := b.do("POST", path, url.Values{"a": {"b"}}, "Content-Type", "application/json"); w.code != 415 {
			t.Errorf("%s: %d", path, w.code)
		}
	}
	if w := r.stranger("127.0.0.1").do("POST", "login", url.Values{"account": {strings.Repeat("a", 9<<10)}}); w.code != 413 {
		t.Errorf("%d", w.code)
	}
	for _, path := range []string{"../v1/messages", "%2e%2e/v1/account", "messages/../keys", "messages//x", "./", "static/../keys", "static/", "static/..%2f..%2f..%2fetc%2fpasswd", "messages/%00", "messages/" + strings.Repeat("a", 10_000), "keys/"} {
		if w := b.get(path); w.code < 301 || w.code > 431 || strings.Contains(w.body, "root:") {
			t.Errorf("%s: %d", path, w.code)
		}
	}
	const markup = `"><script>alert(1)</script>`
	for _, path := range []string{"messages?q=", "messages?state=", "messages?since=", "messages?cursor=", "statistics?by=", "statistics?from=", "login?next=", "nothing?"} {
		if w := b.get(path + url.QueryEscape(markup)); strings.Contains(w.body, "<script>alert") {
			t.Errorf("%s: %s", path, w.body)
		}
	}
	for _, f := range []url.Values{{"from": {markup}, "to": {markup}, "text": {markup}, "once": {markup}}, {"from": {"Shop"}, "to": {"+46700000001"}, "text": {markup}, "preview": {"1"}}} {
		if w := b.do("POST", "send", f); strings.Contains(w.body, "<script>alert") {
			t.Errorf("%+v", w)
		}
	}
	if w := b.post("keys", "name", markup); strings.Contains(w.body, "<script>alert") {
		t.Errorf("%+v", w)
	}
	for _, next := range []string{"//evil.example/", "https://evil.example/portal/", `/portal\evil`, "javascript:alert(1)", "/v1/messages", "/portal/\r\nSet-Cookie: a=b", ""} {
		w := r.stranger("127.0.0.1").post("login", "account", "shop", "name", "look", "password", password, "next", next)
		if w.code != 303 || w.header.Get("Location") != Base || len(w.header.Values("Set-Cookie")) != 1 {
			t.Errorf("%q: %v", next, w.header)
		}
	}
}

// The sessions of a user do not end those of another one, of his account or not, however many there are.
func TestManySessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	other, colleague, first := r.user("rival", config.LookScope), r.user("shop", config.LookScope), r.user("shop", config.SendScope)
	for range mostOf {
		r.user("shop", config.SendScope)
	}
	if !other.in() || !colleague.in() || first.in() {
		t.Error("the session of another user has ended, or more stay than may")
	}
}
