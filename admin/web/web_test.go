package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/cluster/report"
	"pmg/config"
	"pmg/gateway"
	"pmg/internal/browser"
	"pmg/internal/passhash"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/stages"
)

const password = "correct horse"

// gatewayYAML contains names that would be markup if they were not escaped.
const gatewayYAML = `
pdulog: {dir: %q}
admin: {socket: "off", address: "127.0.0.1:0"}
accounts:
  - {system_id: '<b>"x', password: secret, rate: 7, keys: [{name: shop, hash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", scopes: [send], expires: 2037-01-31}]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: '<b>"p', password: 'hidden'}
routes:
  - {account: '<b>"x', destination: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], source: '<b>', keyword: [stop], to: [{connector: operator, weight: 3}, {account: '<b>"x'}]}
  - {to: operator}
lists:
  - {name: optouts, file: %q, opt_out_from: operator}
`

// start runs a gateway whose users have the names of their scopes.
func start(t *testing.T) (url string, g *gateway.Gateway) {
	t.Helper()
	s := startServer(t)
	return "http://" + s.Addr(), s.Gateway()
}

// startServer is start for tests of what the server keeps.
func startServer(t *testing.T) *admin.Server { return startNode(t, nil) }

// listFile returns the name of a file of a list with changes beside it, whose fields would be markup if they were not escaped.
func listFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "optouts.txt")
	changes := "+46701740605\n-46701740605\t2026-11-30T09:14:03Z\tpage\tuser <b>\t\t<script>\n+46701740605\t2026-11-30T09:14:04Z\tstop\toperator\t" + storyID + "\n" +
		"+<B>\"X\t2026-11-30T09:14:05Z\tapi\n"
	if err := errors.Join(os.WriteFile(file, []byte("468*\n46709\n"), 0o600), os.WriteFile(file+".changes", []byte(changes), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// startNode is startServer for a node of a cluster.
func startNode(t *testing.T, known func() *report.Report) *admin.Server {
	t.Helper()
	cfg, _, err := config.Parse(fmt.Appendf(nil, gatewayYAML, t.TempDir(), listFile(t)), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Admin.Audit = t.TempDir() + "/audit"
	logStory(t, cfg.PDULog.Dir)
	hash := passhash.New([]byte(password))
	for _, scope := range []string{config.LookScope, config.OperateScope, config.AdministerScope} {
		cfg.Admin.Users = append(cfg.Admin.Users, config.User{Name: scope, Password: hash, Scope: scope})
	}
	reload := func(context.Context, string, bool) (string, error) { return "nothing <i>new</i>", nil }
	shown := tools()
	shown.Cluster = known
	return serve(t, cfg, func(*gateway.Gateway, gateway.Engine) admin.Parts {
		return admin.Parts{Reload: reload, Pages: shown.Handler}
	})
}

// serve runs a gateway with a server that has some parts, until the test ends.
func serve(t *testing.T, cfg *config.Config, parts func(*gateway.Gateway, gateway.Engine) admin.Parts) *admin.Server {
	t.Helper()
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil })
	if err != nil {
		t.Fatal(err)
	}
	e, err := stages.Start(g)
	if err != nil {
		t.Fatal(err)
	}
	s, err := admin.Start(cfg, g, e, "test", parts(g, e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{s.Close(), e.Close(), g.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// tools are those of the program. Their answers contain what would be markup if it were not escaped.
func tools() Tools {
	return Tools{
		Explain: func(_ *config.Config, q Question) (string, error) {
			if q.To == "fault" {
				panic("at a message to " + q.To)
			}
			if q.To == "none" {
				return "", errors.New("<b>no answer")
			}
			return fmt.Sprintf("<b>%+v", q), nil
		},
		Pending: func(context.Context) (string, error) { return "<b>window: 10 -> 7", nil },
		Find: func(word string) []Found {
			if word == "none" {
				return nil
			}
			return []Found{{"Commands", "pmg <b>" + word, "text", ""}, {"Documents", "One", "<i>", "<pre>"}, {"Documents", "Two", "", ""}}
		},
	}
}

// named are the things of start's gateway that pages are about.
func named() map[string]string {
	return map[string]string{"connectors/{name}": "operator", "accounts/{name}": `<b>"x`, "webhooks/{name}": `<b>"x`, "messages/{name}": storyID, registerName: "optouts"}
}

// pathOf returns a path and the heading of a page.
func pathOf(p *page) (path, heading string) {
	name := named()[p.Name]
	if name == "" {
		return admin.PagesBase + p.Name, p.Title
	}
	return strings.Replace(admin.PagesBase+p.Name, "{name}", url.PathEscape(name), 1), p.Title + " " + name
}

// visitor returns a client that has logged in; with an empty name it has not.
func visitor(t *testing.T, base, name string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(c.CloseIdleConnections)
	if name != "" {
		if code, _, h := ask(t, c, "POST", base+"/ui/login", url.Values{"name": {name}, "password": {password}}); code != 303 || h.Get("Location") != "/ui/" {
			t.Fatalf("login of %s: %d %v", name, code, h)
		}
	}
	return c
}

func ask(t *testing.T, c *http.Client, method, target string, form url.Values) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body), a.Header
}

// Each page and each action is served to those who have its scope, and to nobody else: from the tables, user by user.
// The others are led to the login.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	scopes := map[string]access.Scope{"": access.None, config.LookScope: access.Look, config.OperateScope: access.Operate, config.AdministerScope: access.Administer}
	for name, scope := range scopes {
		c := visitor(t, base, name)
		for _, p := range new(site).pages() {
			path, heading := pathOf(&p)
			code, body, h := ask(t, c, "GET", base+path, nil)
			want := http.StatusOK
			if scope == access.None {
				want = http.StatusSeeOther
			}
			if code != want || want == http.StatusOK && !strings.Contains(body, "<h1>"+template.HTMLEscapeString(heading)+"</h1>") {
				t.Errorf("%q: %s: %d %s", name, path, code, body)
			}
			if h.Get("Content-Security-Policy") != browser.Policy || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", path, h)
			}
		}
		for _, a := range admin.Actions() {
			code, _, h := ask(t, c, "POST", base+"/ui/act/"+a.Name, url.Values{"back": {"/ui/gateway"}, "limit": {"1"}, "name": {"x"}})
			want, to := http.StatusForbidden, ""
			switch {
			case scope == access.None:
				want, to = http.StatusSeeOther, "/ui/login?next=%2Fui%2F"
			case scope >= a.Scope:
				want, to = http.StatusSeeOther, "/ui/gateway"
			}
			if code != want || h.Get("Location") != to {
				t.Errorf("%q: %s: %d to %q, not %d to %q", name, a.Name, code, h.Get("Location"), want, to)
			}
		}
	}
}

// Nothing is served under the name of another host, and no other site can have anything done: not with the cookie of somebody who has
// logged in, whichever header says where the request comes from.
func TestForged(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	c := visitor(t, base, config.AdministerScope)
	forged := func(method, path, host string, headers ...string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(url.Values{"back": {"/ui/"}, "name": {"look"}, "password": {password}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if host != "" {
			r.Host = host
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		a, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.StatusCode
	}
	for _, p := range new(site).pages() {
		path, _ := pathOf(&p)
		for _, path := range []string{path, strings.Replace(path, "/ui/", "/ui/stream/", 1)} {
			if code := forged("GET", path, "evil.example"); code != http.StatusMisdirectedRequest {
				t.Errorf("%s of another host: %d", path, code)
			}
		}
	}
	posts := []string{"/ui/login", "/ui/logout"}
	for _, a := range admin.Actions() {
		posts = append(posts, "/ui/act/"+a.Name, admin.Base+"/"+a.Name)
	}
	for _, path := range posts {
		if code := forged("POST", path, "evil.example"); code != http.StatusMisdirectedRequest {
			t.Errorf("%s of another host: %d", path, code)
		}
		for _, headers := range [][]string{
			{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, {"Origin", strings.Replace(base, "http:", "https:", 1) + ".evil.example"},
		} {
			if code := forged("POST", path, "", headers...); code != http.StatusForbidden {
				t.Errorf("%s with %q: %d", path, headers, code)
			}
		}
	}
}

// Names of accounts, answers of actions and whatever others choose is text in a page, and never
// markup.
func TestMarkup(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	c := visitor(t, base, config.AdministerScope)
	paths := []string{"/ui/accounts?filter=%3Cb%3E", "/ui/sessions?filter=%22%3E%3Cscript%3E", "/ui/login?next=%22%3E%3Cscript%3E", "/ui/accounts/%22%3E%3Cscript%3E"}
	for _, p := range new(site).pages() {
		path, _ := pathOf(&p)
		paths = append(paths, path)
	}
	for _, path := range paths {
		_, body, _ := ask(t, c, "GET", base+path, nil)
		if n := strings.Count(body, "<table"); n != strings.Count(body, "<caption") || n > strings.Count(body, `<th scope="col"`) {
			t.Errorf("%s: a table without a caption or heads: %s", path, body)
		}
		if strings.Contains(body, "<b>") || strings.Contains(body, "<script>") || strings.Contains(body, `"x"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if _, body, _ := ask(t, c, "GET", base+"/ui/accounts", nil); !strings.Contains(body, "&lt;b&gt;") {
		t.Error(body)
	}
	ask(t, c, "POST", base+"/ui/act/reload", url.Values{"back": {"/ui/gateway"}})
	if _, body, _ := ask(t, c, "GET", base+"/ui/gateway", nil); !strings.Contains(body, "nothing &lt;i&gt;new&lt;/i&gt;") {
		t.Error(body)
	}
	if _, body, _ := ask(t, c, "GET", base+"/ui/gateway", nil); strings.Contains(body, "nothing &lt;i&gt;") {
		t.Error("a notice is shown twice")
	}
}

// The page about one thing shows what is known of it, and the configuration in force without secrets to those who may
// operate. There is none about what is not there.
func TestOne(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	origin := g.Node.Origins.Of(`<b>"x`, "clients")
	for _, code := range []sms.Code{sms.Throttled, sms.Throttled, sms.BadDestination, sms.Throttled} {
		origin.Tally.Refuse(code)
	}
	stats := g.Table.Connector("operator").Stats
	stats.Receipts.Add(sms.StateDelivered)
	_, operator := pathOf(&page{Page: browser.Page{Name: "connectors/{name}"}})
	for scope, c := range map[string]*http.Client{config.LookScope: visitor(t, base, config.LookScope), config.OperateScope: visitor(t, base, config.OperateScope)} {
		for path, want := range map[string][]string{
			"/ui/connectors/operator":  {"Hold operator", "Configuration in force", `system_id: &#34;&lt;b&gt;\&#34;p&#34;`, `password: &#34;********&#34;`},
			"/ui/accounts/%3Cb%3E%22x": {"Configuration in force", "rate: 7"},
		} {
			_, body, _ := ask(t, c, "GET", base+path, nil)
			for _, text := range want {
				if strings.Contains(body, text) != (scope == config.OperateScope) {
					t.Errorf("%s: %s: %s", scope, text, body)
				}
			}
			if strings.Contains(body, "hidden") && strings.Contains(body, "password: hidden") || strings.Contains(body, "0123456789abcdef") {
				t.Errorf("a secret: %s", body)
			}
		}
		_, body, _ := ask(t, c, "GET", base+"/ui/connectors/operator", nil)
		if !strings.Contains(body, operator) || !strings.Contains(body, `data-k="p.delivered">100.0 %`) || !strings.Contains(body, "Messages that a peer accepted.") {
			t.Error(body)
		}
		_, body, _ = ask(t, c, "GET", base+"/ui/accounts/%3Cb%3E%22x", nil)
		for _, text := range []string{">shop<", "2037-01-31", `data-k="n.throttled">3<`, `data-k="p.bad_destination">25.0 %`, "/s (limit 7/s)"} {
			if !strings.Contains(body, text) {
				t.Errorf("no %s: %s", text, body)
			}
		}
		for _, path := range []string{"/ui/connectors/other", "/ui/accounts/other", "/ui/stream/accounts/other"} {
			if code, _, _ := ask(t, c, "GET", base+path, nil); code != http.StatusNotFound {
				t.Errorf("%s: %d", path, code)
			}
		}
	}
}

// A wrong login says the same whether the name is known, waits after some, and does not take over the session of a cookie that was
// there before. A logout ends the session. Requests of other sites are refused.
func TestLogin(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	c := visitor(t, base, "")
	u, _ := url.Parse(base)
	c.Jar.SetCookies(u, []*http.Cookie{{Name: "pmg", Value: "chosen", Path: "/"}})
	_, known, _ := ask(t, c, "POST", base+"/ui/login", url.Values{"name": {config.LookScope}, "password": {"x"}})
	code, unknown, _ := ask(t, c, "POST", base+"/ui/login", url.Values{"name": {"nobody"}, "password": {"x"}})
	if code != http.StatusUnauthorized || known != unknown || !strings.Contains(known, "The name or the password is wrong.") {
		t.Errorf("%d\n%s\n%s", code, known, unknown)
	}
	code, _, h := ask(t, c, "POST", base+"/ui/login", url.Values{"name": {config.LookScope}, "password": {password}, "next": {"/ui/accounts"}})
	if code != 303 || h.Get("Location") != "/ui/accounts" || strings.Contains(h.Get("Set-Cookie"), "chosen") || !strings.Contains(h.Get("Set-Cookie"), "HttpOnly; SameSite=Strict") {
		t.Errorf("%d %v", code, h)
	}
	old := c.Jar.Cookies(u)
	if code, body, _ := ask(t, c, "GET", base+"/ui/accounts", nil); code != 200 || !strings.Contains(body, "look (look)") {
		t.Errorf("%d %s", code, body)
	}
	ask(t, c, "POST", base+"/ui/logout", url.Values{})
	c.Jar.SetCookies(u, old)
	if code, _, _ := ask(t, c, "GET", base+"/ui/accounts", nil); code != 303 {
		t.Errorf("after the logout: %d", code)
	}
	for range 6 {
		code, _, h = ask(t, c, "POST", base+"/ui/login", url.Values{"name": {"nobody"}, "password": {"x"}})
	}
	if code != http.StatusTooManyRequests || h.Get("Retry-After") == "" {
		t.Errorf("%d %v", code, h)
	}
	r, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/ui/logout", nil)
	r.Header.Set("Origin", "http://evil.example")
	if a, err := c.Do(r); err != nil || a.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", a, err)
	}
}

// The stream of a page begins with all cells of the page, sends those that change, and says when there are other rows.
func TestStream(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	c := visitor(t, base, config.OperateScope)
	_, body, _ := ask(t, c, "GET", base+"/ui/connectors", nil)
	r, _ := http.NewRequestWithContext(t.Context(), "GET", base+"/ui/stream/connectors", nil)
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	lines := bufio.NewScanner(a.Body)
	next := func() (string, map[string]string) {
		t.Helper()
		kind := ""
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kind = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				cells := map[string]string{}
				if err := json.Unmarshal([]byte(text), &cells); err != nil {
					t.Fatal(err)
				}
				return kind, cells
			}
		}
		t.Fatal("the stream ends")
		return "", nil
	}
	kind, cells := next()
	if n := strings.Count(body, "data-k="); kind != "" || len(cells) != n || n < 10 || cells["s.clients"] != "listening" {
		t.Errorf("%q, %d cells of %d: %v", kind, len(cells), n, cells)
	}
	ask(t, c, "POST", base+"/ui/act/hold", url.Values{"connector": {"operator"}, "back": {"/ui/connectors"}})
	for kind != "stale" {
		kind, _ = next()
	}
	if g.Table.Connector("operator").Hold() == nil {
		t.Error("the connector is not held")
	}
	if kind, cells = next(); kind != "" || len(cells) < 10 || cells["s.operator"] != "held" {
		t.Errorf("behind stale comes all of the page: %q, %v", kind, cells)
	}
	_, body, _ = ask(t, c, "GET", base+"/ui/connectors", nil)
	if !strings.Contains(body, "Connector operator is held") || !strings.Contains(body, `aria-label="Release operator"`) || !strings.Contains(body, "user operate from") {
		t.Error(body)
	}
}

// What a stream sends are differences.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, cells map[string]string
		want          string
	}{
		{nil, map[string]string{"a": "1"}, "data: {\"a\":\"1\"}\n\n"},
		{map[string]string{"a": "1", "b": "2"}, map[string]string{"a": "1", "b": "<3"}, "data: {\"b\":\"\\u003c3\"}\n\n"},
		{map[string]string{"a": "1"}, map[string]string{"a": "1"}, ""},
		{map[string]string{"a": "1"}, map[string]string{"b": "1"}, "event: stale\ndata: {}\n\n"},
		{map[string]string{"a": "1", "b": "1"}, map[string]string{"b": "1"}, "event: stale\ndata: {}\n\n"},
	} {
		if got := events(c.before, c.cells); got != c.want {
			t.Errorf("%v, %v: %q", c.before, c.cells, got)
		}
	}
}

// Rates are measured between two looks that are not too near.
func TestRates(t *testing.T) {
	t.Parallel()
	var r rates
	at := time.Unix(1e9, 0)
	for _, c := range []struct {
		after time.Duration
		n     int64
		want  string
	}{{0, 100, "–"}, {time.Second, 200, "–"}, {2 * time.Second, 300, "100"}, {3 * time.Second, 900, "100"}, {4 * time.Second, 300, "0"}} {
		if got := r.of(at.Add(c.after), c.n, 0, 0); got[0] != c.want {
			t.Errorf("%v: %s, not %s", c.after, got[0], c.want)
		}
	}
}

// Without users those who reach the loopback address look, and change nothing; the login says how users are made.
func TestNoUsers(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	cfg := *g.Node.Config()
	cfg.Admin.Users = nil
	g.Node.SetConfig(&cfg)
	c := visitor(t, base, "")
	code, body, _ := ask(t, c, "GET", base+"/ui/connectors", nil)
	if code != 200 || strings.Contains(body, "<button aria") {
		t.Errorf("one looks on loopback alone, and changes nothing: %d %s", code, body)
	}
	if code, _, _ := ask(t, c, "POST", base+"/ui/act/hold", url.Values{"connector": {"operator"}}); code != 403 {
		t.Errorf("%d", code)
	}
	if _, body, _ := ask(t, c, "GET", base+"/ui/login", nil); !strings.Contains(body, "pmg admin user NAME") {
		t.Error(body)
	}
}
