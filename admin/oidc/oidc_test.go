package oidc

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pmg/config"
)

// While the server is slow, one network does not take the places of others.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := New(func() *config.OIDC { return nil }, time.Now)
	var all []func()
	take := func(from string) error {
		_, done, err := p.place(context.Background(), from)
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
	for _, done := range all {
		done()
	}
	if p.waiting.all != 0 || len(p.waiting.of) != 0 {
		t.Errorf("%+v", &p.waiting.of)
	}
}

// The code and the secret go to the token endpoint alone, wherever that redirects.
func TestRedirects(t *testing.T) {
	t.Parallel()
	p := New(func() *config.OIDC { return nil }, time.Now)
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
