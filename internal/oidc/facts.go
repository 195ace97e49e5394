package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// A server is a provider, and the name under which it knows this gateway.
type server struct{ issuer, client string }

// A provider is what is known of a server.
type provider struct {
	used time.Time // guarded by the lock of the logins

	mu     sync.Mutex     // held while the metadata are read
	known  *oidc.Provider // cached metadata; nil: none were read
	at     time.Time
	styles []oauth2.AuthStyle // the ways in which a client may authenticate at the server; the first one is used
	scopes []string           // scopes that the server supports
}

// The facts are the metadata of the OpenID provider that logins use.
type facts struct {
	Methods []string `json:"token_endpoint_auth_methods_supported"`
	Scopes  []string `json:"scopes_supported"`

	Issuer     string `json:"issuer"`
	Authorizes string `json:"authorization_endpoint"`
	Tokens     string `json:"token_endpoint"`
	Keys       string `json:"jwks_uri"`

	styles []oauth2.AuthStyle // the ways in which clients authenticate at the server
}

// factsOf reads the metadata. The secret is sent as HTTP Basic if they do not name a method (OpenID Connect Discovery §3). The
// library would try one method after another, with a code that the first attempt may have used up.
func factsOf(known *oidc.Provider, section string) (says facts, err error) {
	if err := known.Claims(&says); err != nil {
		return says, fmt.Errorf("cannot read the discovery document of the OpenID provider (%s.issuer): %w", section, err)
	}
	for _, address := range []string{says.Authorizes, says.Tokens, says.Keys} {
		if !isAsSafe(address, says.Issuer) {
			return says, fmt.Errorf(
				"the OpenID provider (%s.issuer) names the address %q, which is not https", section, short(address),
			)
		}
	}
	takes := func(method string) bool { return slices.Contains(says.Methods, method) }
	if takes("client_secret_post") { // before Basic, which needs an encoding of the secret that some servers lack
		says.styles = append(says.styles, oauth2.AuthStyleInParams)
	}
	if len(says.Methods) == 0 || takes("client_secret_basic") {
		says.styles = append(says.styles, oauth2.AuthStyleInHeader)
	}
	if len(says.styles) == 0 && takes("none") {
		says.styles = append(says.styles, oauth2.AuthStyleInParams)
	}
	if len(says.styles) == 0 {
		return says, fmt.Errorf(
			"the OpenID provider takes neither client_secret_basic nor client_secret_post, but %s",
			short(fmt.Sprint(says.Methods)),
		)
	}
	return says, nil
}

// sameStyles reports whether two lists have the same methods, in any order.
func sameStyles(a, b []oauth2.AuthStyle) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s oauth2.AuthStyle) bool { return !slices.Contains(b, s) })
}

// provider returns what is known of the provider of a client. If too many are known, the one that was unused for longest is
// forgotten.
func (p *Logins) provider(c *Client) *provider {
	key := server{c.Issuer, c.ID}
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.known[key]
	if of == nil {
		if len(p.known) >= mostKnown {
			var oldest server
			for one, other := range p.known {
				if oldest == (server{}) || other.used.Before(p.known[oldest].used) {
					oldest = one
				}
			}
			delete(p.known, oldest)
		}
		of = &provider{}
		p.known[key] = of
	}
	of.used = p.now()
	return of
}

// read reads the metadata, unless the cached ones are fresh. The caller holds the lock of the provider.
func (o *provider) read(ctx context.Context, c *Client, now time.Time) error {
	if o.known != nil && now.Sub(o.at) <= fresh {
		return nil
	}
	known, err := oidc.NewProvider(ctx, c.Issuer) // reads the keys with the same client, long after this request
	if err != nil {
		return fmt.Errorf("the OpenID provider (%s.issuer) cannot be asked: %w", c.Section, cut(err))
	}
	says, err := factsOf(known, c.Section)
	if err != nil {
		return err
	}
	if !sameStyles(o.styles, says.styles) {
		o.styles = says.styles
	}
	o.known, o.scopes, o.at = known, says.Scopes, now
	return nil
}

// cut returns an error without what is too long for a log: the library repeats whole answers.
func cut(err error) error {
	if text := err.Error(); len(text) > mostError {
		return errors.New(strings.ToValidUTF8(text[:mostError], "") + "…")
	}
	return err
}

// server returns the OpenID provider of a client, with the client and the verifier for it.
func (p *Logins) server(ctx context.Context, c *Client) (*provider, *oauth2.Config, *oidc.IDTokenVerifier, error) {
	of := p.provider(c)
	of.mu.Lock()
	defer of.mu.Unlock()
	if err := of.read(ctx, c, p.now()); err != nil {
		return nil, nil, nil, err
	}
	endpoint := of.known.Endpoint()
	if endpoint.AuthStyle = of.styles[0]; c.Secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client sends its id in the parameters (RFC 6749 §3.2.1)
	}
	scopes := append([]string{oidc.ScopeOpenID}, c.Scopes...)
	if slices.Contains(of.scopes, c.Claim) && !slices.Contains(scopes, c.Claim) { // the scope adds the groups
		scopes = append(scopes, c.Claim)
	}
	oauth := &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, Endpoint: endpoint, RedirectURL: c.Redirect, Scopes: scopes,
	}
	return of, oauth, of.known.VerifierContext(oidc.ClientContext(context.Background(), p.client), &oidc.Config{
		ClientID: c.ID, Now: p.now,
	}), nil
}

// refused returns the error of a login whose code the provider has refused. A provider that supports two methods of
// authentication may accept our secret in only one: after such a refusal, the next login uses the other. The text of an answer
// is not logged, because it may repeat the request with its secret.
func (o *provider) refused(used *oauth2.Config, err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		return fmt.Errorf("the OpenID provider has not answered the code of the login: %w", err)
	}
	status := 0
	if answer.Response != nil {
		status = answer.Response.StatusCode
	}
	why := short(fmt.Sprintf("status %d %s %s", status, answer.ErrorCode, answer.ErrorDescription))
	secret := answer.ErrorCode == "invalid_client" || status == http.StatusUnauthorized && answer.ErrorCode != "invalid_grant"
	o.mu.Lock()
	defer o.mu.Unlock()
	if secret && len(o.styles) > 1 && o.styles[0] == used.Endpoint.AuthStyle {
		o.styles = []oauth2.AuthStyle{o.styles[1], o.styles[0]}
		return fmt.Errorf("the OpenID provider refuses the secret; the next login uses the other method: %s", why)
	}
	return fmt.Errorf("%w: %s", ErrRefused, why)
}
