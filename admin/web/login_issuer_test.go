package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"pmg/admin"
	"pmg/config"
	"pmg/gateway"
	"pmg/internal/testkit/issuer"
	"pmg/internal/tlsfiles"
)

// The way in which the secret is sent is the one that the server takes, as it says of itself, and no code is sent twice. Where it says
// more than it takes, the next login uses the other way.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const basic, post = "client_secret_basic", "client_secret_post"
	for _, one := range []struct {
		methods []string
		takes   string
		codes   []int // answers to the logins
		says    string
	}{
		{codes: []int{200, 200}},
		{methods: []string{basic}, codes: []int{200, 200}},
		{methods: []string{post}, codes: []int{200, 200}},
		{methods: []string{"private_key_jwt", post}, codes: []int{200, 200}},
		{methods: []string{post, basic}, codes: []int{200, 200}},
		{methods: []string{basic, post}, takes: post, codes: []int{200, 200}},
		{methods: []string{basic, post}, takes: basic, codes: []int{401, 200, 200}, says: "uses the other method"},
		{methods: []string{"private_key_jwt"}, codes: []int{502}, says: "takes neither client_secret_basic nor client_secret_post"},
	} {
		t.Run(strings.Join(append(slices.Clone(one.methods), one.takes), " "), func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			i := &issuer.Secrets{Says: one.methods, Takes: one.takes}
			m := organisation(t, s, i.Serve)
			base := "http://" + s.Addr()
			for n, want := range one.codes {
				m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"ops"}})
				c := visitor(t, base, "")
				code, body, h := ask(t, c, "GET", base+"/ui/login/other", nil)
				if code == http.StatusSeeOther {
					_, _, h = ask(t, c, "GET", h.Get("Location"), nil)
					code, body, _ = ask(t, c, "GET", h.Get("Location"), nil)
				}
				if code != want || code != http.StatusOK && !strings.Contains(body, one.says) {
					t.Errorf("login %d: %d, not %d: %s", n, code, want, body)
				}
			}
			for code, times := range i.Codes() {
				if times != 1 {
					t.Errorf("%s was sent %d times", code, times)
				}
			}
		})
	}
}

// A browser may have several logins under way, which end in any order, and each once. It keeps a bounded number of them.
func TestTabs(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	i := &issuer.Secrets{Says: []string{"client_secret_post"}}
	m := organisation(t, s, i.Serve)
	base := "http://" + s.Addr()
	c := visitor(t, base, "")
	begin := func() (back string) {
		t.Helper()
		m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"ops"}})
		code, _, h := ask(t, c, "GET", base+"/ui/login/other?next=/ui/accounts", nil)
		if code != http.StatusSeeOther {
			t.Fatal(code)
		}
		_, _, h = ask(t, c, "GET", h.Get("Location"), nil)
		return h.Get("Location")
	}
	a, b := begin(), begin()
	for name, back := range map[string]string{"the first": a, "the second": b} {
		if code, body, _ := ask(t, c, "GET", back, nil); code != http.StatusOK {
			t.Errorf("%s tab: %d %s", name, code, body)
		}
		if code, _, _ := ask(t, c, "GET", back, nil); code != http.StatusUnauthorized {
			t.Errorf("%s tab once more: %d", name, code)
		}
	}
	var all []string
	for range 30 {
		all = append(all, begin())
	}
	u, _ := c.Get(all[0]) // too old
	if _ = u.Body.Close(); u.StatusCode != http.StatusUnauthorized {
		t.Errorf("the first of %d: %d", len(all), u.StatusCode)
	}
	if code, body, _ := ask(t, c, "GET", all[len(all)-1], nil); code != http.StatusOK {
		t.Errorf("the last of %d: %d %s", len(all), code, body)
	}
	r, _ := http.NewRequest("GET", base+"/ui/login/other", nil)
	if kept := c.Jar.Cookies(r.URL); len(kept) > 10 {
		t.Errorf("%d cookies are kept", len(kept))
	}

	back := begin()
	u2, _ := http.NewRequest("GET", back, nil)
	cookies := c.Jar.Cookies(u2.URL)
	if code, _, _ := ask(t, c, "GET", back, nil); code != http.StatusOK {
		t.Error(code)
	}
	for _, k := range cookies { // the browser asks again before it has an answer
		u2.AddCookie(k)
	}
	again, err := http.DefaultClient.Do(u2)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Body.Close()
	for code, times := range i.Codes() {
		if times != 1 || again.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s was sent %d times; %d", code, times, again.StatusCode)
		}
	}
}

// The example of docs/web.md works as it stands there, but for the addresses of the machines: nothing is to be warned of, browsers
// find the pages under the name of the section, and come back there. So do those of a proxy that ends TLS, with cookies for TLS alone.
func TestDocumentedLogin(t *testing.T) {
	page, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(page), "  oidc:\n")
	_, text, _ := strings.Cut(string(page)[strings.LastIndex(string(page)[:at], "```\n"):], "\n")
	text, _, _ = strings.Cut(text, "```")
	dir := t.TempDir()
	authority, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	if err := errors.Join(
		authority.Issue(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"), time.Hour, "pmg.example.net"), authority.Write(ca),
	); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PMG_OIDC", "s3cret")
	t.Chdir(dir)
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	raw, err := os.ReadFile(ca)
	if err != nil || !trusted.RootCAs.AppendCertsFromPEM(raw) {
		t.Fatal(err)
	}
	const rest = "\nconnectors: [{name: clients, direction: in, address: '127.0.0.1:0'}]\naccounts: [{system_id: acme, password: secret}]\nroutes: [{to: {account: acme}}]\npdulog: {enabled: false}\n"
	for proxied, text := range map[bool]string{false: text, true: regexp.MustCompile("(?m)^  tls: .*\n").ReplaceAllString(text, "")} {
		text = strings.Replace(text, "0.0.0.0:2780", "127.0.0.1:0", 1)
		cfg, warnings, err := config.Parse([]byte(text+rest), config.Options{})
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v %v", err, warnings)
		}
		s := serve(t, cfg, func(*gateway.Gateway, gateway.Engine) admin.Parts { return admin.Parts{Pages: tools().Handler} })
		m, err := mockoidc.Run()
		if err != nil {
			t.Fatal(err)
		}
		set(s, func(c *config.Config) { c.Admin.OIDC.Issuer, m.ClientID, m.ClientSecret = m.Issuer(), "pmg", "s3cret" })
		c := visitor(t, "", "")
		c.Transport = &http.Transport{TLSClientConfig: trusted, DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			if to == "pmg.example.net:2780" {
				to = s.Addr()
			}
			return new(net.Dialer).DialContext(ctx, network, to)
		}}
		var front *httptest.Server
		if proxied { // which ends TLS and passes the name on
			to := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(&url.URL{Scheme: "http", Host: s.Addr()})
				r.Out.Host = r.In.Host
			}}
			front = httptest.NewUnstartedServer(to)
			certificate, err := tls.LoadX509KeyPair("server.pem", "server.key")
			if err != nil {
				t.Fatal(err)
			}
			front.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			front.StartTLS()
			c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
				if to == "pmg.example.net:2780" {
					to = front.Listener.Addr().String()
				}
				return new(net.Dialer).DialContext(ctx, network, to)
			}
		}
		const base = "https://pmg.example.net:2780"
		if code, _, h := ask(t, c, "GET", base+"/ui/", nil); code != http.StatusSeeOther || !strings.HasPrefix(h.Get("Location"), "/ui/login") {
			t.Errorf("proxied %t: %d %v", proxied, code, h)
		}
		m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"sms-admins"}})
		code, body, h := logsIn(t, c, base)
		if code != http.StatusOK {
			t.Errorf("proxied %t: %d %s", proxied, code, body)
		}
		for _, cookie := range h.Values("Set-Cookie") {
			if !strings.Contains(cookie, "; Secure") {
				t.Errorf("proxied %t: %s", proxied, cookie)
			}
		}
		if code, body, _ = ask(t, c, "GET", base+"/ui/accounts", nil); code != http.StatusOK || !strings.Contains(body, "(administer)") {
			t.Errorf("proxied %t: %d %s", proxied, code, body)
		}
		c.CloseIdleConnections()
		if front != nil {
			front.Close()
		}
		if err := m.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}
