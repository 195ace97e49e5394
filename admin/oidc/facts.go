package oidc

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// The facts are the metadata of the OpenID provider that logins use.
type facts struct {
	Methods []string `json:"token_endpoint_auth_methods_supported"`
	Scopes  []string `json:"scopes_supported"`

	styles []oauth2.AuthStyle // the ways in which clients authenticate at the server
}

// factsOf reads the metadata. The secret is sent as HTTP Basic if they do not name a method (OpenID Connect Discovery §3). The
// library would try one method after another, with a code that the first attempt may have used up.
func factsOf(known *oidc.Provider) (says facts, err error) {
	if err := known.Claims(&says); err != nil {
		return says, fmt.Errorf("cannot read the discovery document of the OpenID provider (admin.oidc.issuer): %w", err)
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

// refused returns the error of a login whose code the provider has refused. A provider that supports two methods of
// authentication may accept our secret in only one: after such a refusal, the next login uses the other.
func (p *Provider) refused(used *oauth2.Config, err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		return fmt.Errorf("the OpenID provider has not answered the code of the login: %w", err)
	}
	secret := answer.ErrorCode == "invalid_client" ||
		answer.Response != nil && answer.Response.StatusCode == http.StatusUnauthorized && answer.ErrorCode != "invalid_grant"
	p.mu.Lock()
	defer p.mu.Unlock()
	if secret && len(p.styles) > 1 && p.styles[0] == used.Endpoint.AuthStyle {
		p.styles = []oauth2.AuthStyle{p.styles[1], p.styles[0]}
		return fmt.Errorf("the OpenID provider refuses the secret; the next login uses the other method: %w", err)
	}
	return fmt.Errorf("the OpenID provider has refused the code of the login: %w", err)
}
