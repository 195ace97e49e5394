// Package oidc logs people in with OpenID Connect: operators, and users of accounts.
//
//	Begin ──► the browser logs in at the provider ──► End: a code ──► the provider's token ──► a name and a scope
//
// The state of a login in progress is in a cookie of the browser, signed with a key of the process: a request
// without a login needs no memory. It names whose login it is, so that one that was begun for an account ends in no
// other. Logins use the provider's keys, which are read again after an hour.
//
// # Start reading
//
// oidc.go; cookie.go (logins in progress), facts.go (what is known of a provider), groups.go (scopes).
package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pmg/internal/httpcall"
	"pmg/internal/turns"
)

// LoginTime is the time limit of a browser between Begin and End.
const LoginTime = 10 * time.Minute

// Limits.
const (
	patience   = 10 * time.Second
	fresh      = time.Hour // lifetime of the cached metadata
	atATime    = 8         // maximum number of logins that wait for one provider
	atATimeOf  = 3         // maximum number of concurrent logins from one network
	mostAnswer = 1 << 20   // maximum octets of an answer
	mostName   = 100
	mostError  = 500 // octets of an error of the library

	mostRedirects = 3
	mostClaimed   = 10_000 // maximum number of values in a claim
	mostSpent     = 10_000 // completed logins that are remembered while their cookies are valid
	mostKnown     = 1_000  // providers whose metadata are cached
)

// A Client is how this gateway uses a provider, by the configuration in force.
type Client struct {
	Of      string // whose logins they are: an account; "": the operators'
	Section string // section of the configuration, for messages

	Issuer, ID, Secret string
	Redirect           string // the URL to which the provider redirects browsers
	Scopes             []string
	Claim              string
	ScopeOf            func(groups []string) string // returns the highest scope of some groups, "" if they have none
}

// Logins are the logins of the browsers of some pages. They are safe for concurrent use.
type Logins struct {
	now      func() time.Time
	key      []byte // signs the cookies
	client   *http.Client
	patience time.Duration // time limit of the provider at each login; set before the first one

	waiting struct {
		mu   sync.Mutex
		at   map[string]int       // by provider
		from map[netip.Prefix]int // by network
	}

	mu    sync.Mutex
	known map[server]*provider
	spent map[string]time.Time // time when the code of a login was used, by the login's state
}

// New returns the logins of some pages.
func New(now func() time.Time) *Logins {
	p := &Logins{
		now: now, key: make([]byte, 32), patience: patience, spent: map[string]time.Time{}, known: map[server]*provider{},
	}
	p.waiting.at, p.waiting.from = map[string]int{}, map[netip.Prefix]int{}
	_, _ = rand.Read(p.key) // rand.Read never fails
	// The environment may configure a proxy, as by default in the library.
	p.client = httpcall.New(httpcall.Options{Proxy: true, Timeout: patience, MaxBody: mostAnswer}).HTTP(mostRedirects)
	follow := p.client.CheckRedirect
	p.client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if !isAsSafe(r.URL.String(), via[0].URL.String()) {
			return http.ErrUseLastResponse
		}
		return follow(r, via)
	}
	return p
}

// isAsSafe reports whether an address is one of HTTP, and of TLS where that of the provider is. A provider may belong to a
// customer, and must not lead the gateway to services without TLS, as most of those are that only this machine reaches.
func isAsSafe(address, issuer string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(issuer, "http://") && strings.HasPrefix(address, "http://")
}

// Errors that a browser sees, besides errors of the provider.
var (
	ErrCrowded = errors.New("too many logins wait for the OpenID provider")
	ErrNoRole  = errors.New("you have no role here")
	ErrStale   = errors.New("this login is too old, or was begun in another browser: begin it again")
	ErrRefused = errors.New("the OpenID provider has refused the code of the login") // a code that was guessed, for example
)

// Begin returns the URL where a browser from an address logs in, and the browser's cookie for the login. After the login the
// browser continues with the path next.
func (p *Logins) Begin(ctx context.Context, c *Client, from, next string) (to string, cookie Cookie, err error) {
	ctx, done, err := p.place(ctx, c.Issuer, from)
	if err != nil {
		return "", cookie, err
	}
	defer done()
	_, oauth, _, err := p.server(ctx, c)
	if err != nil {
		return "", cookie, err
	}
	b := begun{
		Of: c.Of, Issuer: c.Issuer, Client: c.ID,
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, At: p.now().UnixNano(),
	}
	if cookie, err = p.cookieOf(&b); err != nil {
		return "", cookie, err
	}
	return oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), cookie, nil
}

// A Login is the user who has logged in.
type Login struct {
	Name    string
	Subject string // id of the user at the provider, which no other user ever has
	Scope   string // the highest scope that one of the groups has
	Next    string
}

// End completes the login of a browser that the provider has redirected with a query.
func (p *Logins) End(ctx context.Context, c *Client, from string, cookie Cookie, query url.Values) (l Login, err error) {
	b, ok := p.begunBy(c, cookie, query)
	if !ok {
		return l, ErrStale
	}
	if why := query.Get("error"); why != "" {
		why += " " + query.Get("error_description")
		return l, fmt.Errorf("the OpenID provider refuses the login: %s", short(why))
	}
	ctx, done, err := p.place(ctx, c.Issuer, from)
	if err != nil {
		return l, err
	}
	defer done()
	claims, id, err := p.redeem(ctx, c, &b, query.Get("code"))
	if err != nil {
		return l, err
	}
	scope, err := scopeOf(c, claims)
	if err != nil {
		return l, err
	}
	name := nameOf(claims, id.Subject) + " at " + hostOf(c.Issuer)
	return Login{Name: name, Subject: id.Subject, Scope: scope, Next: b.Next}, nil
}

// redeem returns the claims of the token that the provider has for the code of a login.
func (p *Logins) redeem(ctx context.Context, c *Client, b *begun, code string) (map[string]any, *oidc.IDToken, error) {
	of, oauth, verifier, err := p.server(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if !p.spend(b.State) {
		return nil, nil, ErrStale
	}
	tokens, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return nil, nil, of.refused(oauth, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("the token of the OpenID provider is not valid: %w", err)
	}
	if !hmac.Equal([]byte(id.Nonce), []byte(b.Nonce)) {
		return nil, nil, errors.New("the token of the OpenID provider belongs to another login")
	}
	if id.Subject == "" {
		return nil, nil, errors.New("the token of the OpenID provider has no sub")
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("the token of the OpenID provider cannot be read: %w", err)
	}
	return claims, id, nil
}

// spend reports whether the code of a login was not used before. A client uses a code once (RFC 6749 §4.1.2), even if the
// browser sends it twice before the provider answers.
func (p *Logins) spend(state string) bool {
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

// place reserves a place among the logins that wait for a provider, whose number is limited for each network. A provider that
// does not answer takes no places of others. done releases the place.
func (p *Logins) place(ctx context.Context, issuer, from string) (_ context.Context, done func(), err error) {
	addr, _ := netip.ParseAddrPort(from)
	network, w := turns.Network(addr.Addr()), &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at[issuer] >= atATime || w.from[network] >= atATimeOf {
		return ctx, nil, ErrCrowded
	}
	w.at[issuer]++
	w.from[network]++
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), p.patience)
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.at[issuer]--; w.at[issuer] == 0 {
			delete(w.at, issuer)
		}
		if w.from[network]--; w.from[network] == 0 {
			delete(w.from, network)
		}
	}, nil
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
