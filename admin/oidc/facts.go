package oidc

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// The facts are the server's metadata, as far as logins use them.
type facts struct {
	Methods []string `json:"token_endpoint_auth_methods_supported"`
	Scopes  []string `json:"scopes_supported"`

	styles []oauth2.AuthStyle // the ways in which clients authenticate at the server
}

// factsOf reads the facts. The secret is sent as HTTP Basic if the metadata lack the method (OpenID Connect
// Discovery §3). The library would try one method after the other, with a code that the first attempt may
// have used up.
func factsOf(known *oidc.Provider) (says facts, err error) {
	if err := known.Claims(&says); err != nil {
		return says, fmt.Errorf("cannot read the discovery document of the OpenID provider (admin.oidc.issuer): %w", err)
	}
	takes := func(method string) bool { return slices.Contains(says.Methods, method) }
	if takes("client_secret_post") { // before Basic, which needs an encoding of secrets that servers forget
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

// sameStyles reports whether the server says the same as before, in any order.
func sameStyles(a, b []oauth2.AuthStyle) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s oauth2.AuthStyle) bool { return !slices.Contains(b, s) })
}

// refused returns the error of a login whose code the server has answered with an error. A server that
// supports two methods of authentication may accept our secret in only one of them: after a refusal of the
// secret, the next login uses the other method.
func (p *Provider) refused(used *oauth2.Config, err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		return fmt.Errorf("the OpenID provider has not answered to the code of the login: %w", err)
	}
	secret := answer.ErrorCode == "invalid_client" ||
		answer.Response != nil && answer.Response.StatusCode == http.StatusUnauthorized && answer.ErrorCode != "invalid_grant"
	p.mu.Lock()
	defer p.mu.Unlock()
	if secret && len(p.styles) > 1 && p.styles[0] == used.Endpoint.AuthStyle {
		p.styles = []oauth2.AuthStyle{p.styles[1], p.styles[0]}
		return fmt.Errorf("the OpenID provider refuses the secret, which the next login sends in another way: %w", err)
	}
	return fmt.Errorf("the OpenID provider has refused the code of the login: %w", err)
}
