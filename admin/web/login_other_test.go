package web

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"pmg/admin"
	"pmg/config"
	"pmg/internal/testkit/issuer"
)

// organisation starts a server of OpenID Connect, whose groups may log in at a gateway.
func organisation(t *testing.T, s *admin.Server, before ...func(http.Handler) http.Handler) *mockoidc.MockOIDC {
	t.Helper()
	m := issuer.Run(t, before...)
	set(s, func(c *config.Config) {
		c.Admin.OIDC = config.OIDC{
			OIDCClient: config.OIDCClient{
				Issuer: m.Issuer(), ClientID: m.ClientID, ClientSecret: m.ClientSecret, Scopes: []string{"profile", "email", "groups"}, Claim: "groups",
			},
			Address: "http://" + s.Addr(), Look: []string{"sms", "all"}, Operate: []string{"ops"}, Administer: []string{"root"},
		}
	})
	return m
}

// set puts a changed configuration in force.
func set(s *admin.Server, change func(c *config.Config)) {
	c := *s.Gateway().Node.Config()
	change(&c)
	s.Gateway().Node.SetConfig(&c)
}

// logsIn goes the way of a browser that logs in at the OpenID provider. It returns the answer of the gateway there.
func logsIn(t *testing.T, c *http.Client, base string) (int, string, http.Header) {
	t.Helper()
	code, _, h := ask(t, c, "GET", base+"/ui/login/other?next=/ui/accounts", nil)
	if code != http.StatusSeeOther {
		t.Fatalf("%d %v", code, h)
	}
	if code, _, h = ask(t, c, "GET", h.Get("Location"), nil); code != http.StatusFound {
		t.Fatalf("%d %v", code, h)
	}
	return ask(t, c, "GET", h.Get("Location"), nil)
}

// Operators log in at a server that others wrote, with the highest scope of their groups. They stay logged in until the section
// changes.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	anonymous := visitor(t, base, "")
	if code, _, _ := ask(t, anonymous, "GET", base+"/ui/login/other", nil); code != http.StatusBadGateway {
		t.Errorf("without the section: %d", code)
	}
	m := organisation(t, s)
	for _, one := range []struct {
		user mockoidc.MockUser
		name string
		code int
	}{
		{mockoidc.MockUser{Subject: "1", PreferredUsername: "anna", Groups: []string{"x", "ops", "sms"}}, "anna at HOST (operate)", 303},
		{mockoidc.MockUser{Subject: "2", Email: "<b>@example.net", Groups: []string{"all"}}, "&lt;b&gt;@example.net at HOST (look)", 403},
		{mockoidc.MockUser{Subject: "three", Groups: []string{"root"}}, "three at HOST (administer)", 303},
	} {
		m.QueueUser(&one.user)
		issuer, _ := url.Parse(m.Issuer())
		one.name = strings.Replace(one.name, "HOST", issuer.Host, 1)
		c := visitor(t, base, "")
		code, body, h := logsIn(t, c, base)
		if code != http.StatusOK || h.Get("Refresh") != "0; url=/ui/accounts" {
			t.Fatalf("%s: %d %v %s", one.name, code, h, body)
		}
		for _, cookie := range h.Values("Set-Cookie") {
			if strings.HasPrefix(cookie, "pmg=") && !(strings.Contains(cookie, "SameSite=Strict") && strings.Contains(cookie, "HttpOnly")) {
				t.Error(cookie)
			}
		}
		if code, body, _ = ask(t, c, "GET", base+"/ui/accounts", nil); code != http.StatusOK || !strings.Contains(body, one.name) {
			t.Errorf("%s: %d %s", one.name, code, body)
		}
		if code, _, _ = ask(t, c, "POST", base+"/ui/act/release", url.Values{"connector": {"operator"}}); code != one.code {
			t.Errorf("%s releases a connector: %d", one.name, code)
		}
		set(s, func(c *config.Config) { c.Admin.OIDC.Look = append(c.Admin.OIDC.Look, "more") })
		if code, _, _ = ask(t, c, "GET", base+"/ui/accounts", nil); code != http.StatusSeeOther {
			t.Errorf("%s is logged in behind a change: %d", one.name, code)
		}
	}
	log, err := os.ReadFile(s.Gateway().Node.Config().Admin.Audit)
	if text := string(log); err != nil || strings.Count(text, `"who":"user anna at `) != 2 || strings.Contains(text, `"code":["`) && !strings.Contains(text, `"code":["***"]`) {
		t.Errorf("%v: the audit log has %s", err, log)
	}
	if code, _, _ := ask(t, visitor(t, base, config.LookScope), "GET", base+"/ui/accounts", nil); code != http.StatusOK {
		t.Errorf("with a password: %d", code)
	}
}

// Nobody gets in with a group that has no role, a login of another browser, an answer that comes twice or late, or what the server
// refuses; each is said.
func TestLoginElsewhereRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	m := organisation(t, s)
	want := func(what string, c *http.Client, code, wanted int, body, says string) {
		t.Helper()
		if code != wanted || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s", what, code, body)
		}
		if code, _, _ := ask(t, c, "GET", base+"/ui/accounts", nil); code != http.StatusSeeOther {
			t.Errorf("%s is logged in: %d", what, code)
		}
	}
	m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"OPS", "other"}})
	c := visitor(t, base, "")
	code, body, _ := logsIn(t, c, base)
	want("another group", c, code, 403, body, "none of your groups has a role")

	m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"root"}})
	_, _, h := ask(t, c, "GET", base+"/ui/login/other", nil)
	_, _, h = ask(t, c, "GET", h.Get("Location"), nil)
	back := h.Get("Location")
	thief := visitor(t, base, "")
	code, body, _ = ask(t, thief, "GET", back, nil)
	want("another browser", thief, code, 401, body, "begun in another browser")
	_, _, _ = ask(t, thief, "GET", base+"/ui/login/other", nil)
	code, body, _ = ask(t, thief, "GET", back, nil)
	want("another login", thief, code, 401, body, "begun in another browser")

	for what, query := range map[string]string{"no code": "state=%s", "a wrong code": "state=%s&code=x", "refused": "state=%s&error=access_denied&error_description=%%0ano"} {
		_, _, h = ask(t, c, "GET", base+"/ui/login/other", nil)
		u, err := url.Parse(h.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		says := map[bool]string{true: "refuses the login: access_denied", false: "has refused the code"}[what == "refused"]
		code, body, _ = ask(t, c, "GET", base+"/ui/login/callback?"+strings.ReplaceAll(query, "%s", url.QueryEscape(u.Query().Get("state"))), nil)
		want(what, c, code, 401, body, says)
	}

	m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"root"}})
	m.FastForward(-2 * time.Hour) // its tokens are over
	code, body, _ = logsIn(t, c, base)
	want("an old token", c, code, 401, body, "token of the OpenID provider is not valid")

	set(s, func(c *config.Config) { c.Admin.OIDC.Issuer = "http://127.0.0.1:1" })
	code, body, _ = ask(t, c, "GET", base+"/ui/login/other", nil)
	want("no server", c, code, 502, body, "cannot be asked")
}
