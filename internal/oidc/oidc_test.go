package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
	"golang.org/x/oauth2"

	"pmg/internal/testkit/issuer"
)

// While the server is slow, one network does not take the places of others.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := New(time.Now)
	var all []func()
	take := func(from string) error {
		_, done, err := p.place(context.Background(), "https://login.example.net", from)
		if err == nil {
			all = append(all, done)
		}
		return err
	}
	for i := range 2 * atATime {
		if err := take("192.0.2.7:1024"); (err == nil) != (i < atATimeOf) || err != nil && !errors.Is(err, ErrCrowded) {
			t.Errorf("%d of one network: %v", i, err)
		}
	}
	for _, from := range []string{"198.51.100.1:1", "198.51.101.1:1", "[2001:db8::1]:1", "198.51.102.1:1", "198.51.103.1:1"} {
		if err := take(from); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}
	if err := take("198.51.104.1:1"); !errors.Is(err, ErrCrowded) {
		t.Errorf("one more than there are places: %v", err)
	}
	_, done, err := p.place(context.Background(), "https://other.example.net", "198.51.104.1:1")
	if err != nil {
		t.Fatal("a provider that does not answer takes the places of another one")
	}
	for _, done := range append(all, done) {
		done()
	}
	if len(p.waiting.at)+len(p.waiting.from) != 0 {
		t.Errorf("%+v %+v", p.waiting.at, p.waiting.from)
	}
}

// The code and the secret go to the token endpoint alone, wherever that redirects.
func TestRedirects(t *testing.T) {
	t.Parallel()
	p := New(time.Now)
	elsewhere := false
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if elsewhere = elsewhere || r.URL.Path != "/token"; r.URL.Path == "/token" {
			http.Redirect(w, r, server.URL+"/elsewhere", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, p.client)
	c := oauth2.Config{ClientID: "pmg", ClientSecret: "s3cret", Endpoint: oauth2.Endpoint{TokenURL: server.URL + "/token"}}
	if _, err := c.Exchange(ctx, "code"); err == nil || elsewhere {
		t.Errorf("%v, elsewhere %t", err, elsewhere)
	}
	if u, err := url.Parse("https://login.example.net/a"); err != nil || hostOf(u.String()) != "login.example.net" {
		t.Error(hostOf(u.String()), err)
	}
}

// A provider with TLS leads the gateway to no address without it, neither by its metadata nor by a redirect; one that belongs to a
// customer could mean services of this machine.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	asked := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer inside.Close()
	says := ""
	var outside *httptest.Server
	outside = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch says {
		case "redirect":
			http.Redirect(w, r, inside.URL, http.StatusFound)
		default:
			all := map[string]string{"issuer": outside.URL, "authorization_endpoint": outside.URL, "token_endpoint": outside.URL, "jwks_uri": outside.URL}
			if says != "" {
				all[says] = inside.URL
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(all)
		}
	}))
	defer outside.Close()
	for _, says = range []string{"authorization_endpoint", "token_endpoint", "jwks_uri", "redirect", ""} {
		p := New(time.Now)
		p.client.Transport = outside.Client().Transport
		c := &Client{Issuer: outside.URL, ID: "pmg", Section: "admin.oidc"}
		if _, _, err := p.Begin(t.Context(), c, "192.0.2.7:1024", "/"); (err == nil) != (says == "") || asked {
			t.Errorf("%q: %v, asked %t", says, err, asked)
		}
	}
}

// The metadata of a bounded number of providers are kept: those that were used last.
func TestKnown(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	p := New(func() time.Time { return now })
	of := func(i int) *Client { return &Client{Issuer: strconv.Itoa(i)} }
	first := p.provider(of(0))
	for i := range mostKnown + 10 {
		now = now.Add(time.Second)
		p.provider(of(i))
		if p.provider(of(0)) != first {
			t.Fatal("one that is used is forgotten")
		}
	}
	if len(p.known) != mostKnown {
		t.Errorf("%d are known", len(p.known))
	}
}

// A provider that hangs, at its metadata or at the code, ends the login after a time, and others' logins go on meanwhile.
func TestHangs(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	at := atomic.Pointer[string]{}
	at.Store(new(string))
	m := issuer.Run(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == *at.Load() {
				<-hangs
			}
			next.ServeHTTP(w, r)
		})
	})
	t.Cleanup(func() { close(hangs) })
	p := New(time.Now)
	p.patience = 200 * time.Millisecond
	c := &Client{
		Issuer: m.Issuer(), ID: m.ClientID, Secret: m.ClientSecret, Section: "oidc", Claim: "groups", Scopes: []string{"groups"},
		Redirect: "http://127.0.0.1:1/back", ScopeOf: opsOperate,
	}
	for _, path := range []string{mockoidc.DiscoveryEndpoint, mockoidc.TokenEndpoint, ""} {
		m.QueueUser(&mockoidc.MockUser{Subject: "1", Groups: []string{"ops"}})
		at.Store(&path)
		to, cookie, err := p.Begin(t.Context(), c, "192.0.2.7:1024", "/")
		if path == mockoidc.DiscoveryEndpoint {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := browser.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		back, err := answer.Location()
		if err != nil {
			t.Fatal(err)
		}
		switch l, err := p.End(t.Context(), c, "192.0.2.7:1024", cookie, back.Query()); {
		case path != "" && (!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrRefused)), path == "" && (err != nil || l.Scope != "operate"):
			t.Errorf("%s: %+v %v", path, l, err)
		}
	}
	if len(p.waiting.at)+len(p.waiting.from) != 0 {
		t.Errorf("%+v %+v", p.waiting.at, p.waiting.from)
	}
}
