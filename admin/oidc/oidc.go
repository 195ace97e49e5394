// Package oidc logs operators in at the server of their organisation, with OpenID Connect.
//
//	Begin ──► the browser logs in at the server ──► End: a code ──► the server's token ──► a name and a scope
//
// What is known of a login between the two lies in a cookie of the browser, signed with a key of the process: a request without a
// login takes no memory. Logins go on with the server's keys, which are read again after an hour.
//
// # Start reading
//
// oidc.go.
package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"pmg/internal/turns"
)

// Path is where the server of the organisation sends browsers back to.
const Path = "/ui/login/callback"

// LoginTime is how long a browser may take between Begin and End.
const LoginTime = 10 * time.Minute

// Bounds.
const (
	patience   = 10 * time.Second // for the server, at each login
	fresh      = time.Hour        // how long what the server says of itself is believed
	atATime    = 8                // logins that wait for the server
	atATimeOf  = 3                // of these, those from one network
	mostAnswer = 1 << 20          // octets of an answer of the server
	mostName   = 100

	mostRedirects = 3
	mostClaimed   = 10_000 // values of a claim
)

// A Provider is the server of an organisation. It is safe for concurrent use.
type Provider struct {
	config func() *config.OIDC // in force; nil: there is none
	now    func() time.Time
	key    []byte // of cookies
	client *http.Client

	waiting struct {
		mu  sync.Mutex
		all int
		of  map[netip.Prefix]int
	}

	mu    sync.Mutex
	known *oidc.Provider // what the server has said of itself
	of    string         // the issuer that this was
	at    time.Time
}

// New returns the provider of a configuration, which may change.
func New(c func() *config.OIDC, now func() time.Time) *Provider {
	p := &Provider{config: c, now: now, key: make([]byte, 32)}
	p.waiting.of = map[netip.Prefix]int{}
	_, _ = rand.Read(p.key) // which never fails
	p.client = &http.Client{
		Timeout: patience, Transport: bounded{http.DefaultTransport.(*http.Transport).Clone()},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || len(via) > mostRedirects { // the code and the secret go nowhere else
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	return p
}

// A bounded transport cuts long answers.
type bounded struct{ http.RoundTripper }

func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		a.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(a.Body, mostAnswer), a.Body}
	}
	return a, err
}

// Errors that a browser sees, beside those of the server.
var (
	ErrCrowded = errors.New("too many logins wait for the server of the organisation")
	ErrNoRole  = errors.New("none of your groups has a role in admin.oidc")
	errStale   = errors.New("this login is too old, or was begun in another browser: begin it again")
)

// A begun login is what the cookie of a browser has.
type begun struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"t"`
	At       int64  `json:"a"`
}

// Begin returns where a browser of an address logs in that wants to go on with a path, and the cookie that it has until then.
func (p *Provider) Begin(ctx context.Context, from, next string) (to, cookie string, err error) {
	ctx, done, err := p.place(ctx, from)
	if err != nil {
		return "", "", err
	}
	defer done()
	_, oauth, _, err := p.server(ctx)
	if err != nil {
		return "", "", err
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, At: p.now().Unix()}
	text, err := json.Marshal(&b)
	if err != nil {
		return "", "", err
	}
	to = oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier))
	return to, encode(text) + "." + encode(p.sign(text)), nil
}

// A Login is who has logged in.
type Login struct {
	Name  string
	Scope string // the highest that one of the groups has
	Next  string
}

// End ends the login of a browser of an address that was sent back with a query.
func (p *Provider) End(ctx context.Context, from, cookie string, query url.Values) (l Login, err error) {
	b, ok := p.read(cookie)
	if !ok || !hmac.Equal([]byte(query.Get("state")), []byte(b.State)) {
		return l, errStale
	}
	if why := query.Get("error"); why != "" {
		why += " " + query.Get("error_description")
		return l, fmt.Errorf("the server of the organisation refuses the login: %s", short(why))
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
	tokens, err := oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return l, fmt.Errorf("the server of the organisation has refused the code of the login: %w", err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return l, fmt.Errorf("the token of the server of the organisation is not valid: %w", err)
	}
	if !hmac.Equal([]byte(id.Nonce), []byte(b.Nonce)) {
		return l, errors.New("the token of the server of the organisation is of another login")
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return l, fmt.Errorf("the token of the server of the organisation cannot be read: %w", err)
	}
	l = Login{
		Name: nameOf(claims, id.Subject) + " at " + hostOf(c.Issuer), Scope: c.ScopeOf(valuesOf(claims[c.Claim])), Next: b.Next,
	}
	if l.Scope == "" {
		return l, ErrNoRole
	}
	return l, nil
}

// hostOf returns the host of the server, which names of it end with: a local user may have the same name.
func hostOf(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return issuer
	}
	return u.Host
}

// place takes a place among the logins under way, of which each network has a few. done gives it back.
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

// server returns how the server of the organisation is asked.
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
			return nil, nil, nil, fmt.Errorf("the server of the organisation (admin.oidc.issuer) cannot be asked: %w", err)
		}
		p.known, p.of, p.at = known, c.Issuer, p.now()
	}
	oauth := &oauth2.Config{
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, Endpoint: p.known.Endpoint(),
		RedirectURL: strings.TrimSuffix(c.Address, "/") + Path, Scopes: append([]string{oidc.ScopeOpenID}, c.Scopes...),
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

// read reads a cookie that Begin has made, while it is valid.
func (p *Provider) read(cookie string) (b begun, ok bool) {
	first, second, _ := strings.Cut(cookie, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	sum, other := base64.RawURLEncoding.DecodeString(second)
	if err != nil || other != nil || !hmac.Equal(sum, p.sign(text)) || json.Unmarshal(text, &b) != nil {
		return b, false
	}
	age := p.now().Sub(time.Unix(b.At, 0))
	return b, age < LoginTime
}

// nameOf returns the name of who has logged in, for the pages and the logs.
func nameOf(claims map[string]any, subject string) string {
	for _, claim := range []string{"preferred_username", "email"} {
		if name, _ := claims[claim].(string); name != "" {
			return short(name)
		}
	}
	return short(subject)
}

// short returns a text of the server without what a terminal or a log would obey, and not too much of it.
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

// valuesOf returns the values of a claim: a list of texts, or one text.
func valuesOf(claim any) (all []string) {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v[:min(len(v), mostClaimed)] {
			if text, ok := one.(string); ok && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
