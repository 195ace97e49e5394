// Package oidc logs operators in with OpenID Connect.
//
//	Begin ──► the browser logs in at the server ──► End: a code ──► the server's token ──► a name and a scope
//
// The state of a login in progress is in a cookie of the browser, signed with a key of the process: a request
// without a login needs no memory. Logins use the server's keys, which are read again after an hour.
//
// # Start reading
//
// oidc.go.
package oidc

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pmg/config"
	"pmg/internal/httpcall"
	"pmg/internal/turns"
)

// Path is the path to which the OpenID provider redirects browsers.
const Path = "/ui/login/callback"

// LoginTime is the time limit of a browser between Begin and End.
const LoginTime = 10 * time.Minute

// Limits.
const (
	patience   = 10 * time.Second // time limit of the provider at each login
	fresh      = time.Hour        // lifetime of the cached metadata
	atATime    = 8                // maximum number of logins that wait for the provider
	atATimeOf  = 3                // maximum number of concurrent logins from one network
	mostAnswer = 1 << 20          // maximum octets of an answer
	mostName   = 100

	mostRedirects = 3
	mostClaimed   = 10_000 // maximum number of values in a claim
	mostSpent     = 10_000 // completed logins that are remembered while their cookies are valid
)

// A Provider is an OpenID provider. It is safe for concurrent use.
type Provider struct {
	config func() *config.OIDC // returns the configuration in force; nil: OIDC is not configured
	now    func() time.Time
	key    []byte // signs the cookies
	client *http.Client

	waiting struct {
		mu  sync.Mutex
		all int
		of  map[netip.Prefix]int
	}

	mu     sync.Mutex
	known  *oidc.Provider // cached metadata
	of     string         // issuer of the cached metadata
	at     time.Time
	styles []oauth2.AuthStyle   // the ways in which a client may authenticate at the server; the first one is used
	scopes []string             // scopes that the server supports
	spent  map[string]time.Time // time when the code of a login was used, by the login's state
}

// New returns the provider of a configuration, which may change.
func New(c func() *config.OIDC, now func() time.Time) *Provider {
	p := &Provider{config: c, now: now, key: make([]byte, 32), spent: map[string]time.Time{}}
	p.waiting.of = map[netip.Prefix]int{}
	_, _ = rand.Read(p.key) // rand.Read never fails
	// The environment may configure a proxy, as by default in the library.
	p.client = httpcall.New(httpcall.Options{Proxy: true, Timeout: patience, MaxBody: mostAnswer}).HTTP(mostRedirects)
	return p
}

// Errors that a browser sees, besides errors of the server.
var (
	ErrCrowded = errors.New("too many logins wait for the OpenID provider")
	ErrNoRole  = errors.New("you have no role here")
	errStale   = errors.New("this login is too old, or was begun in another browser: begin it again")
)

// A begun login is the content of the browser's cookie.
type begun struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"t"`
	At       int64  `json:"a"`
}

// A Cookie is the state of a login that a browser has begun. Each login has its own cookie, so that several may be in
// progress.
type Cookie struct{ Name, Value string }

// cookieName is the prefix of the cookies' names. The state of the login follows.
const cookieName = "pmg-login-"

// MostBegun is the maximum number of logins in progress of a browser.
const MostBegun = 8

// Begin returns the URL where a browser from an address logs in, and the browser's cookie for the login. After the login the
// browser continues with the path next.
func (p *Provider) Begin(ctx context.Context, from, next string) (to string, cookie Cookie, err error) {
	ctx, done, err := p.place(ctx, from)
	if err != nil {
		return "", cookie, err
	}
	defer done()
	_, oauth, _, err := p.server(ctx)
	if err != nil {
		return "", cookie, err
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, At: p.now().UnixNano()}
	text, err := json.Marshal(&b)
	if err != nil {
		return "", cookie, err
	}
	to = oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier))
	return to, Cookie{cookieName + b.State, encode(text) + "." + encode(p.sign(text))}, nil
}

// Old returns the names of the cookies that a browser must delete before another login: expired cookies, and the oldest if
// there are too many.
func (p *Provider) Old(r *http.Request) (names []string) {
	var all []begun
	for _, c := range r.Cookies() {
		if !strings.HasPrefix(c.Name, cookieName) {
			continue
		}
		if b, ok := p.read(c.Value); ok && c.Name == cookieName+b.State {
			all = append(all, b)
		} else {
			names = append(names, c.Name)
		}
	}
	slices.SortStableFunc(all, func(a, b begun) int { return cmp.Compare(b.At, a.At) })
	for _, b := range all[min(len(all), MostBegun-1):] {
		names = append(names, cookieName+b.State)
	}
	return names
}

// CookieOf returns the cookie of the login that a browser returns from. Its name is "" if there is none.
func CookieOf(r *http.Request) (found Cookie) {
	if c, err := r.Cookie(cookieName + r.URL.Query().Get("state")); err == nil {
		found = Cookie{c.Name, c.Value}
	}
	return found
}

// A Login is the user who has logged in.
type Login struct {
	Name  string
	Scope string // the highest scope that one of the groups has
	Next  string
}

// End completes the login of a browser that the provider has redirected with a query.
func (p *Provider) End(ctx context.Context, from string, cookie Cookie, query url.Values) (l Login, err error) {
	b, ok := p.read(cookie.Value)
	if !ok || !hmac.Equal([]byte(query.Get("state")), []byte(b.State)) {
		return l, errStale
	}
	if why := query.Get("error"); why != "" {
		why += " " + query.Get("error_description")
		return l, fmt.Errorf("the OpenID provider refuses the login: %s", short(why))
	}
	ctx, done, err := p.place(ctx, from)
	if err != nil {
		return l, err
	}
	defer done()
	c, oauth, verifier, err := p.server(ctx)
	if err != nil {
		return l, err
	}
	if !p.spend(b.State) {
		return l, errStale
	}
	tokens, err := oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return l, p.refused(oauth, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return l, fmt.Errorf("the token of the OpenID provider is not valid: %w", err)
	}
	if !hmac.Equal([]byte(id.Nonce), []byte(b.Nonce)) {
		return l, errors.New("the token of the OpenID provider belongs to another login")
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return l, fmt.Errorf("the token of the OpenID provider cannot be read: %w", err)
	}
	scope, err := scopeOf(c, claims)
	if err != nil {
		return l, err
	}
	return Login{Name: nameOf(claims, id.Subject) + " at " + hostOf(c.Issuer), Scope: scope, Next: b.Next}, nil
}

// spend reports whether the code of a login was not used before. A client uses a code once (RFC 6749 §4.1.2), even if the
// browser sends it twice before the provider answers.
func (p *Provider) spend(state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, was := p.spent[state]; was {
		return false
	}
	for other, at := range p.spent { // the map's order is random: any entry is dropped if there are too many
		if len(p.spent) >= mostSpent || p.now().Sub(at) > LoginTime {
			delete(p.spent, other)
		}
	}
	p.spent[state] = p.now()
	return true
}

// hostOf returns the host of the provider. It is appended to the names of the provider's users, because a local user may have
// the same name.
func hostOf(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return issuer
	}
	return u.Host
}

// place reserves a place among the logins in progress, whose number is limited for each network. done releases it.
func (p *Provider) place(ctx context.Context, from string) (_ context.Context, done func(), err error) {
	at, _ := netip.ParseAddrPort(from)
	network, w := turns.Network(at.Addr()), &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= atATime || w.of[network] >= atATimeOf {
		return ctx, nil, ErrCrowded
	}
	w.all++
	w.of[network]++
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), patience)
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.of[network]--; w.of[network] == 0 {
			delete(w.of, network)
		}
	}, nil
}

// server returns the configuration, the client and the verifier for the OpenID provider.
func (p *Provider) server(ctx context.Context) (*config.OIDC, *oauth2.Config, *oidc.IDTokenVerifier, error) {
	c := p.config()
	if c == nil {
		return nil, nil, nil, errors.New("the configuration has no admin.oidc")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || p.of != c.Issuer || p.now().Sub(p.at) > fresh {
		// The keys are read with the same client, long after this request.
		known, err := oidc.NewProvider(ctx, c.Issuer)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("the OpenID provider (admin.oidc.issuer) cannot be asked: %w", err)
		}
		says, err := factsOf(known)
		if err != nil {
			return nil, nil, nil, err
		}
		if p.of != c.Issuer || !sameStyles(p.styles, says.styles) {
			p.styles = says.styles
		}
		p.scopes = says.Scopes
		p.known, p.of, p.at = known, c.Issuer, p.now()
	}
	endpoint := p.known.Endpoint()
	if endpoint.AuthStyle = p.styles[0]; c.ClientSecret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client sends its id in the parameters (RFC 6749 §3.2.1)
	}
	scopes := append([]string{oidc.ScopeOpenID}, c.Scopes...)
	if slices.Contains(p.scopes, c.Claim) && !slices.Contains(scopes, c.Claim) { // the scope adds the groups
		scopes = append(scopes, c.Claim)
	}
	oauth := &oauth2.Config{
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, Endpoint: endpoint,
		RedirectURL: strings.TrimSuffix(c.Address, "/") + Path, Scopes: scopes,
	}
	return c, oauth, p.known.VerifierContext(oidc.ClientContext(context.Background(), p.client), &oidc.Config{
		ClientID: c.ClientID, Now: p.now,
	}), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *Provider) sign(text []byte) []byte {
	h := hmac.New(sha256.New, p.key)
	h.Write(text)
	return h.Sum(nil)
}

// read reads a cookie that Begin has made, if the cookie is valid.
func (p *Provider) read(cookie string) (b begun, ok bool) {
	first, second, _ := strings.Cut(cookie, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	sum, other := base64.RawURLEncoding.DecodeString(second)
	if err != nil || other != nil || !hmac.Equal(sum, p.sign(text)) || json.Unmarshal(text, &b) != nil {
		return b, false
	}
	age := p.now().Sub(time.Unix(0, b.At))
	return b, age < LoginTime
}

// nameOf returns the name of the user, for the pages and the logs.
func nameOf(claims map[string]any, subject string) string {
	for _, claim := range []string{"preferred_username", "email"} {
		if name, _ := claims[claim].(string); name != "" {
			return short(name)
		}
	}
	return short(subject)
}

// short returns a text from the provider, shortened, and without characters that could control a terminal or a log.
func short(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return '?'
		}
		return c
	}, strings.TrimSpace(text))
	if all := []rune(text); len(all) > mostName {
		return string(all[:mostName])
	}
	return text
}
