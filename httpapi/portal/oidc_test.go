package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/oauth2-proxy/mockoidc"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/issuer"
	"pmg/internal/testkit/testutil"
)

// Parts of the answers.
const (
	staleLogin     = "This login is too old"
	noRight        = "Your organisation gives you no right here"
	wrongAnswer    = "The login of your organisation was not answered"
	passwordByOIDC = "You log in with your organisation"
)

// A federation is a rig whose accounts shop and rival have one provider, with groups of their own.
type federation struct {
	*rig
	provider *mockoidc.MockOIDC
}

// federate serves shop and rival with a provider, and bare without one. more are options of shop.
func federate(t *testing.T, more string) *federation {
	t.Helper()
	m := issuer.Run(t)
	section := func(groups string) string {
		return fmt.Sprintf("oidc: {issuer: %q, client_id: %q, client_secret: %q, %s}", m.Issuer(), m.ClientID, m.ClientSecret, groups)
	}
	text := fmt.Sprintf(`{system_id: shop, password: secret, %s, %s%s}, {system_id: rival, password: secret, %s}, {system_id: bare, password: secret, %s}`,
		users(), section("look: [clerks], send: [sellers], manage: [bosses]"), more, section("manage: [rivals]"), users())
	r := newRig(t, text, `portal_url: "http://127.0.0.1:1"`, "")
	r.change("http://127.0.0.1:1", r.base)
	return &federation{r, m}
}

// change puts a changed configuration in force.
func (r *rig) change(old, with string) {
	r.t.Helper()
	if !strings.Contains(r.yaml, old) {
		r.t.Fatalf("the configuration has no %s", old)
	}
	r.yaml = strings.Replace(r.yaml, old, with, 1)
	r.Reload(r.yaml)
}

// leaves begins a login to an account, and returns the address to which the page leads on.
func (b *person) leaves(account string) string {
	b.t.Helper()
	w := b.post("oidc", "account", account, "next", Base+"messages")
	to, ok := strings.CutPrefix(w.header.Get("Refresh"), "0; url=")
	if w.code != 200 || !ok || !strings.Contains(w.body, "Go on to the login") {
		b.t.Fatalf("%+v", w)
	}
	return to
}

// follow asks for an address as a browser does that is led there.
func (b *person) follow(address string) reply {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.done(r)
}

// returns goes the way to the provider and back, and returns the address to which that leads the browser.
func (b *person) returns(account string) string {
	b.t.Helper()
	w := b.follow(b.leaves(account))
	if w.code != http.StatusFound {
		b.t.Fatalf("%+v", w)
	}
	return w.header.Get("Location")
}

// some returns somebody of groups.
func some(groups ...string) *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "s-1", PreferredUsername: "ann", Groups: groups}
}

// federated returns somebody of a group who has logged in to shop.
func (f *federation) federated(group string) *person {
	f.t.Helper()
	f.provider.QueueUser(some(group))
	b := f.stranger("127.0.0.1")
	if w := b.follow(b.returns("shop")); w.code != 200 || w.header.Get("Refresh") != "0; url="+Base+"messages" {
		f.t.Fatalf("%+v", w)
	}
	return b
}

// People of an account log in at its provider, with the highest scope of their groups, also where users with passwords need a second
// factor. They have no password here. The cookie of the session is as that of other logins, and no log has a code.
func TestOIDCLogin(t *testing.T) {
	t.Parallel()
	f := federate(t, ", second_factor: true")
	host := strings.TrimPrefix(f.provider.Addr(), "http://")
	f.stranger("127.0.0.1").has("login", "Log in with your organisation", `formaction="/portal/oidc"`)
	var codes []string
	for _, c := range []struct {
		groups []string
		scope  string
	}{{[]string{"x", "clerks"}, "look"}, {[]string{"clerks", "sellers"}, "send"}, {[]string{"bosses", "rivals"}, "manage"}} {
		f.provider.QueueUser(some(c.groups...))
		b := f.stranger("127.0.0.1")
		back := b.returns("shop")
		w := b.follow(back)
		u, err := url.Parse(back)
		if err != nil || u.Path != "/portal/oidc/shop" || w.code != 200 || w.header.Get("Refresh") != "0; url="+Base+"messages" {
			t.Fatalf("%v %s: %+v", err, back, w)
		}
		codes = append(codes, u.Query().Get("code"))
		cookies := strings.Join(w.header.Values("Set-Cookie"), "\n")
		if !regexp.MustCompile(`(?m)^pmg-portal=[^;]+; Path=/; HttpOnly; SameSite=Strict$`).MatchString(cookies) || w.header.Get("Referrer-Policy") != "strict-origin" {
			t.Errorf("%+v", w.header)
		}
		if w := b.has("", "<h1>Overview</h1>", "ann at "+host+", shop"); strings.Contains(w.body, `href="/portal/password"`) {
			t.Error(w.body)
		}
		for _, page := range []string{"password", "second-factor"} {
			if w := b.get(page); w.code != 409 || !strings.Contains(w.body, passwordByOIDC) {
				t.Errorf("%+v", w)
			}
			if w := b.post(page, "current", "x"); w.code != 409 || !strings.Contains(w.body, passwordByOIDC) {
				t.Errorf("%+v", w)
			}
		}
		may := map[bool]int{true: 200, false: 403}
		if w := b.get("send"); w.code != may[c.scope != "look"] {
			t.Errorf("%s: %d", c.scope, w.code)
		}
		if w := b.get("users"); w.code != may[c.scope == "manage"] {
			t.Errorf("%s: %d", c.scope, w.code)
		}
		line := "user ann at " + host + " of account shop 127.0.0.1 portal/login map[by:oidc issuer:" + f.provider.Issuer() + " scope:" + c.scope + " subject:s-1]: ok\n"
		if !f.records.has(line) {
			t.Errorf("%s: %v", line, f.records.lines)
		}
	}
	if w := f.user2("shop", config.LookScope); w.header.Get("Location") != factorPath {
		t.Errorf("with a password: %+v", w)
	}
	lines := f.lines()
	for _, code := range codes {
		if code == "" || strings.Contains(lines, code) || f.records.has(code) {
			t.Errorf("a log has the code %q", code)
		}
	}
}

// user2 logs a user in, and returns the answer to the first page.
func (r *rig) user2(account, name string) reply {
	b := r.stranger("127.0.0.1")
	b.post("login", "account", account, "name", name, "password", password)
	return b.get("")
}

// Nobody is let in by a token that is not as it should be, by an answer that is not for this browser, this login and this account, or
// that comes twice. What is said is not what the provider has said.
func TestOIDCRefused(t *testing.T) {
	t.Parallel()
	f := federate(t, "")
	number := 0
	fresh := func() *person { // failed logins make an address wait
		number++
		return f.stranger(fmt.Sprintf("127.0.2.%d", number))
	}
	check := func(what string, b *person, w reply, code int, text string) {
		t.Helper()
		if w.code != code || !strings.Contains(w.body, text) || strings.Contains(w.body, "127.0.0.1:") || b.in() {
			t.Errorf("%s: %+v", what, w)
		}
	}
	type claims = mockoidc.IDTokenClaims
	for what, change := range map[string]func(*claims){
		"another nonce":    func(c *claims) { c.Nonce = "x" },
		"no nonce":         func(c *claims) { c.Nonce = "" },
		"another audience": func(c *claims) { c.Audience = []string{"other"} },
		"another issuer":   func(c *claims) { c.Issuer += "/other" },
		"an old token":     func(c *claims) { c.ExpiresAt.Time = time.Now().Add(-time.Hour) },
		"nobody's token":   func(c *claims) { c.Subject = "" },
	} {
		f.provider.QueueUser(&issuer.User{MockUser: *some("bosses"), Change: change})
		b := fresh()
		check(what, b, b.follow(b.returns("shop")), 502, wrongAnswer)
	}
	for what, groups := range map[string][]string{"no group": nil, "another group": {"Bosses", "x"}, "the group of another account": {"rivals"}} {
		f.provider.QueueUser(some(groups...))
		b := fresh()
		check(what, b, b.follow(b.returns("shop")), 403, noRight)
	}
	for what, c := range map[string]struct {
		change func(q url.Values)
		code   int
		text   string
	}{
		"another state":     {func(q url.Values) { q.Set("state", "x") }, 403, staleLogin},
		"no state":          {func(q url.Values) { q.Del("state") }, 403, staleLogin},
		"another code":      {func(q url.Values) { q.Set("code", "x") }, 502, wrongAnswer},
		"no code":           {func(q url.Values) { q.Del("code") }, 502, wrongAnswer},
		"another provider":  {func(q url.Values) { q.Set("iss", "https://other.example.net") }, 403, staleLogin},
		"a refusal":         {func(q url.Values) { q.Set("error", "access_denied") }, 502, wrongAnswer},
		"its own provider'": {func(q url.Values) { q.Set("iss", f.provider.Issuer()) }, 200, "Go on"},
	} {
		f.provider.QueueUser(some("bosses"))
		b := fresh()
		u, _ := url.Parse(b.returns("shop"))
		q := u.Query()
		c.change(q)
		u.RawQuery = q.Encode()
		w := b.follow(u.String())
		if c.code == 200 {
			if w.code != 200 || !b.in() {
				t.Errorf("%s: %+v", what, w)
			}
			continue
		}
		check(what, b, w, c.code, c.text)
	}

	f.provider.QueueUser(some("bosses", "rivals"))
	b := fresh()
	back := b.returns("shop")
	thief := fresh()
	check("another browser", thief, thief.follow(back), 403, staleLogin)
	thief.leaves("shop")
	check("another login", thief, thief.follow(back), 403, staleLogin)
	check("another account", b, b.follow(strings.Replace(back, "/oidc/shop?", "/oidc/rival?", 1)), 403, staleLogin)

	f.provider.QueueUser(some("bosses", "rivals"))
	back = b.returns("shop")
	u, _ := url.Parse(back)
	kept := b.client.Jar.Cookies(u)
	if w := b.follow(back); w.code != 200 || !b.in() {
		t.Errorf("%+v", w)
	}
	again := fresh()
	again.client.Jar.SetCookies(u, kept)
	check("the same code twice", again, again.follow(back), 403, staleLogin)
	if f.records.has("account rival") {
		t.Error("somebody is logged in to another account")
	}

	f.change("client_secret: \""+f.provider.ClientSecret, "client_secret: \"S3CRET")
	f.provider.QueueUser(some("bosses"))
	b = fresh()
	check("a wrong secret", b, b.follow(b.returns("shop")), 502, wrongAnswer)
}

// An account that does not exist, or has no provider, is answered as a wrong password, and as late. A form of another site begins no
// login.
func TestOIDCAlike(t *testing.T) {
	t.Parallel()
	f := federate(t, "")
	seen := map[string]bool{}
	for i, c := range [][]string{
		{"login", "account", "shop", "name", "look", "password", "wrong"}, {"oidc", "account", "nobody"}, {"oidc", "account", "bare"}, {"oidc", "account", "Shop"},
	} {
		b := f.stranger(fmt.Sprintf("127.0.3.%d", i+1))
		began := time.Now()
		w := b.post(c[0], c[1:]...)
		if w.code != 403 || w.header.Get("Set-Cookie") != "" || time.Since(began) < 900*time.Millisecond {
			t.Errorf("%q: %+v", c, w)
		}
		seen[strings.NewReplacer(`value="`+c[2]+`"`, `value=""`, `value="look"`, `value=""`).Replace(w.body)] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d answers", len(seen))
	}
	b := f.stranger("127.0.0.1")
	if w := b.post("oidc"); w.code != 400 {
		t.Errorf("%+v", w)
	}
	for _, name := range []string{"shop", "nobody", "bare"} { // without a login that this browser has begun
		if w := b.get("oidc/" + name + "?code=x&state=y"); w.code != 403 || !strings.Contains(w.body, staleLogin) {
			t.Errorf("%+v", w)
		}
	}
	if w := b.do("POST", "oidc", url.Values{"account": {"shop"}}, "Origin", "https://evil.example"); w.code != 403 || !strings.Contains(w.body, "Another site") || w.header.Get("Set-Cookie") != "" {
		t.Errorf("%+v", w)
	}
	if w := b.get("oidc?account=shop"); w.code != 303 && w.code != 404 && w.code != 405 || w.header.Get("Refresh") != "" {
		t.Errorf("%+v", w)
	}
}

// A login that has begun does not end, and a session does not go on, behind a change of the account's section, without the account,
// its right to the connector, or the pages. One of another account does.
func TestOIDCChanges(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ old, with string }{
		"groups":       {"look: [clerks]", "look: [clerks, more]"},
		"a secret":     {"client_secret: ", "scopes: [email], client_secret: "},
		"the account":  {"system_id: shop", "system_id: store"},
		"the network":  {"system_id: shop", "networks: [192.0.2.0/24], system_id: shop"},
		"its right":    {"system_id: shop", "bind: [receiver], system_id: shop"},
		"the pages":    {"portal: true", "portal: false"},
		"the provider": {"oidc: {issuer: \"", "oidc: {issuer: \"http://127.0.0.1:1/x"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := federate(t, "")
			b, begun := f.federated("bosses"), f.stranger("127.0.0.1")
			other := f.user("bare", config.LookScope)
			f.provider.QueueUser(some("clerks"))
			back := begun.returns("shop")
			if !b.in() {
				t.Fatal("not logged in")
			}
			f.change(c.old, c.with)
			if b.in() || what != "the pages" && !other.in() {
				t.Error("who is logged in is not who should be")
			}
			w := begun.follow(back)
			lasts := what == "groups" || what == "a secret" // the same client of the same provider
			if lasts != (w.code == 200) || lasts != begun.in() {
				t.Errorf("%+v", w)
			}
		})
	}
}

// A login that was begun at a provider gives its code to no other one that the account has meanwhile.
func TestOIDCOther(t *testing.T) {
	t.Parallel()
	f := federate(t, "")
	i := &issuer.Secrets{}
	other := issuer.Run(t, i.Serve)
	b := f.stranger("127.0.0.1")
	back := b.returns("shop")
	f.change(f.provider.Issuer(), other.Issuer())
	if w := b.follow(back); w.code != 403 || !strings.Contains(w.body, staleLogin) || len(i.Codes()) > 0 {
		t.Errorf("%+v; %v", w, i.Codes())
	}
}

// In a real browser a login leads to the provider and back: the policy of the pages allows it, and the cookie of the session
// counts on the page that follows.
func TestOIDCBrowser(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	f := federate(t, "")
	f.provider.QueueUser(some("bosses"))
	b.Do(chromedp.Navigate(f.base+Base+"messages"), chromedp.WaitVisible(`//h1[text()="Log in"]`), chromedp.SendKeys(`input[name=account]`, "shop"),
		chrome.Click(`//button[text()="Log in with your organisation"]`), chromedp.WaitVisible(`//h1[text()="Messages"]`))
	b.Silent()
}

// A provider that cannot be asked ends the login with an answer that says so, without where it is.
func TestOIDCDown(t *testing.T) {
	t.Parallel()
	f := federate(t, "")
	f.change(f.provider.Issuer(), "http://127.0.0.1:1/x")
	b := f.stranger("127.0.0.1")
	if w := b.post("oidc", "account", "shop"); w.code != 502 || !strings.Contains(w.body, wrongAnswer) || strings.Contains(w.body, "127.0.0.1:1") {
		t.Errorf("%+v", w)
	}
	if w := b.post("login", "account", "shop", "name", "look", "password", password); w.code != 303 {
		t.Errorf("with a password: %+v", w)
	}
	if !f.records.has("unknown 127.0.0.1 portal/login map[account:shop by:oidc issuer:http://127.0.0.1:1/x]: refused\n") {
		t.Error(f.records.lines)
	}
}
