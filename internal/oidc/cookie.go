package oidc

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A begun login is the content of the browser's cookie.
type begun struct {
	Of       string `json:"o"`
	Issuer   string `json:"i"`
	Client   string `json:"c"`
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"t"`
	At       int64  `json:"a"`
}

// A Cookie is the state of a login that a browser has begun. Each login has its own cookie, so that several may be in
// progress.
type Cookie struct{ Name, Value string }

// Beginnings of the names of cookies. The state of the login follows. Over TLS a browser takes a cookie with the prefix __Host-
// from this host alone, so that no other host of the domain can begin a login for the browser.
const (
	cookieName = "pmg-login-"
	hostPrefix = "__Host-"
)

// MostBegun is the maximum number of logins in progress of a browser.
const MostBegun = 8

// A Browser is the browser of a request.
type Browser struct {
	Request  *http.Request
	IsSecure bool   // it uses TLS
	Path     string // without TLS it sends the cookies to paths that begin so; with TLS to all paths
}

// prefix returns the beginning of the names of the browser's cookies.
func (w Browser) prefix() string {
	if w.IsSecure {
		return hostPrefix + cookieName
	}
	return cookieName
}

// Set sets the cookie of a begun login, or removes it if it has no value. The browser comes back from another site, so the
// cookie must be sent with requests from other sites.
func (w Browser) Set(h http.Header, c Cookie) {
	age, path := int(LoginTime.Seconds()), w.Path
	if c.Value == "" {
		age = -1
	}
	if w.IsSecure {
		path = "/"
	}
	cookie := &http.Cookie{
		Name: w.prefix() + c.Name, Value: c.Value, Path: path, MaxAge: age, HttpOnly: true, Secure: w.IsSecure,
		SameSite: http.SameSiteLaxMode,
	}
	h.Add("Set-Cookie", cookie.String())
}

// Begun returns the cookie of the login that the browser returns from, and removes it. Its name is "" if there is none.
func (w Browser) Begun(h http.Header) (found Cookie) {
	state := w.Request.URL.Query().Get("state")
	if c, err := w.Request.Cookie(w.prefix() + state); err == nil {
		found = Cookie{state, c.Value}
		w.Set(h, Cookie{Name: state})
	}
	return found
}

// SetBegun sets the cookie of another login of a browser. It removes those that have expired, and the oldest if there are too
// many.
func (p *Logins) SetBegun(w Browser, h http.Header, cookie Cookie) {
	var all []begun
	for _, c := range w.Request.Cookies() {
		state, ok := strings.CutPrefix(c.Name, w.prefix())
		if !ok {
			continue
		}
		if b, ok := p.read(c.Value); ok && state == b.State {
			all = append(all, b)
		} else {
			w.Set(h, Cookie{Name: state})
		}
	}
	slices.SortStableFunc(all, func(a, b begun) int { return cmp.Compare(b.At, a.At) })
	for _, b := range all[min(len(all), MostBegun-1):] {
		w.Set(h, Cookie{Name: b.State})
	}
	w.Set(h, cookie)
}

// cookieOf returns the cookie of a begun login.
func (p *Logins) cookieOf(b *begun) (Cookie, error) {
	text, err := json.Marshal(b)
	return Cookie{b.State, encode(text) + "." + encode(p.sign(text))}, err
}

// IsBegun reports whether a browser returns from a login of a client that it has begun.
func (p *Logins) IsBegun(c *Client, cookie Cookie, query url.Values) bool {
	_, ok := p.begunBy(c, cookie, query)
	return ok
}

// begunBy returns the login of a client that a browser returns from. A provider that names itself must be the client's, so that
// no code goes to another one (RFC 9207).
func (p *Logins) begunBy(c *Client, cookie Cookie, query url.Values) (b begun, ok bool) {
	b, ok = p.read(cookie.Value)
	if iss := query.Get("iss"); iss != "" && iss != c.Issuer {
		return b, false
	}
	return b, ok && b.Of == c.Of && b.Issuer == c.Issuer && b.Client == c.ID &&
		hmac.Equal([]byte(query.Get("state")), []byte(b.State))
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *Logins) sign(text []byte) []byte {
	h := hmac.New(sha256.New, p.key)
	h.Write(text)
	return h.Sum(nil)
}

// read reads a cookie that Begin has made, if the cookie is valid.
func (p *Logins) read(cookie string) (b begun, ok bool) {
	first, second, _ := strings.Cut(cookie, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	sum, other := base64.RawURLEncoding.DecodeString(second)
	if err != nil || other != nil || !hmac.Equal(sum, p.sign(text)) || json.Unmarshal(text, &b) != nil {
		return b, false
	}
	age := p.now().Sub(time.Unix(0, b.At))
	return b, age < LoginTime
}
