package oidc

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// A login counts for those who began it, for ten minutes: with the cookie as it was made, its state, its account, and the same client of
// the same provider.
func TestIsBegun(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	p := New(func() time.Time { return now })
	shop := Client{Of: "shop", Issuer: "https://login.example.net", ID: "pmg"}
	cookie, err := p.cookieOf(&begun{Of: "shop", Issuer: shop.Issuer, Client: "pmg", State: "s", At: now.UnixNano()})
	if err != nil || !p.IsBegun(&shop, cookie, url.Values{"state": {"s"}}) {
		t.Fatal(err)
	}
	for what, c := range map[string]Client{
		"account": {Of: "rival", Issuer: shop.Issuer, ID: "pmg"}, "provider": {Of: "shop", Issuer: "https://other.example.net", ID: "pmg"},
		"client": {Of: "shop", Issuer: shop.Issuer, ID: "other"},
	} {
		if p.IsBegun(&c, cookie, url.Values{"state": {"s"}}) {
			t.Errorf("it counts for another %s", what)
		}
	}
	text, sum, _ := strings.Cut(cookie.Value, ".")
	for what, value := range map[string]string{"no cookie": "", "no sum": text, "another sum": text + "." + sum[1:], "another text": encode([]byte("{}")) + "." + sum} {
		if p.IsBegun(&shop, Cookie{"s", value}, url.Values{"state": {"s"}}) || p.IsBegun(&shop, Cookie{"s", value}, url.Values{}) {
			t.Errorf("%s is taken", what)
		}
	}
	if New(time.Now).IsBegun(&shop, cookie, url.Values{"state": {"s"}}) || p.IsBegun(&shop, cookie, url.Values{"state": {"S"}}) {
		t.Error("the cookie of another process, or another state, is taken")
	}
	if now = now.Add(LoginTime); p.IsBegun(&shop, cookie, url.Values{"state": {"s"}}) {
		t.Error("a login lasts too long")
	}
}

// Over TLS a browser takes and sends the cookie of a login for this host alone, so that no neighbour of the domain begins one for it.
func TestCookies(t *testing.T) {
	t.Parallel()
	p := New(time.Now)
	for secure, want := range map[bool]string{
		false: "pmg-login-s=v; Path=/portal/oidc/; Max-Age=600; HttpOnly; SameSite=Lax",
		true:  "__Host-pmg-login-s=v; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/portal/oidc/shop?state=s", nil)
		w, h := Browser{r, secure, "/portal/oidc/"}, http.Header{}
		if p.SetBegun(w, h, Cookie{"s", "v"}); h.Get("Set-Cookie") != want {
			t.Errorf("%v", h)
		}
		r.Header.Set("Cookie", "pmg-login-s=plain; __Host-pmg-login-s=host; pmg-login-x=old; __Host-pmg-login-x=old")
		h = http.Header{}
		if c := w.Begun(h); c != (Cookie{"s", map[bool]string{false: "plain", true: "host"}[secure]}) || !strings.Contains(h.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%v %v", c, h)
		}
		h = http.Header{}
		p.SetBegun(w, h, Cookie{"t", "v"}) // those that are none of this process go
		if gone := h.Values("Set-Cookie"); len(gone) != 3 || slices.ContainsFunc(gone, func(c string) bool { return strings.HasPrefix(c, "__Host-") != secure }) {
			t.Errorf("%q", gone)
		}
	}
}
