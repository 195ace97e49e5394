package oidc

import (
	"fmt"
	"slices"
	"strings"
)

// scopeOf returns the highest scope of the groups of a token. The error is the reason why the token has no scope.
func scopeOf(c *Client, claims map[string]any) (string, error) {
	claim, ok := find(claims, c.Claim)
	if !ok {
		if elsewhere, _ := claims["_claim_names"].(map[string]any); elsewhere[c.Claim] != nil || claims["hasgroups"] != nil {
			return "", fmt.Errorf(
				"%w: your groups are too many for the server's token, which has no %s, only a reference to them (_claim_names): "+
					"configure the server to send only the groups that this gateway needs", ErrNoRole, c.Claim,
			)
		}
		return "", fmt.Errorf(
			"%w: the token of the server has no claim %s (%s.claim): let it contain your groups", ErrNoRole, c.Claim, c.Section,
		)
	}
	if c.Claim == emailClaim && !isTrue(claims["email_verified"]) {
		return "", fmt.Errorf("%w: the server has not verified your address (email_verified)", ErrNoRole)
	}
	groups := valuesOf(claim)
	if len(groups) == 0 {
		return "", fmt.Errorf("%w: the claim %s of the token of the server has no groups", ErrNoRole, c.Claim)
	}
	scope := c.ScopeOf(groups)
	if scope == "" {
		return "", fmt.Errorf("%w: none of your groups has a role in %s", ErrNoRole, c.Section)
	}
	return scope, nil
}

// emailClaim is a claim that users may have chosen for themselves, unless the provider has verified it.
const emailClaim = "email"

// isTrue reports whether a claim is true. Some providers write it as a text.
func isTrue(claim any) bool { return claim == true || claim == "true" }

// find returns the claim at a path, such as realm_access.roles. A name may contain dots, as an address or a
// client's name does, so that several parts of the path may be one name.
func find(claims map[string]any, path string) (claim any, ok bool) {
	if claim, ok = claims[path]; ok {
		return claim, claim != nil
	}
	for i := strings.LastIndexByte(path, '.'); i >= 0; i = strings.LastIndexByte(path[:i], '.') {
		if inner, is := claims[path[:i]].(map[string]any); is {
			if claim, ok = find(inner, path[i+1:]); ok {
				return claim, true
			}
		}
	}
	return nil, false
}

// valuesOf returns the values of a claim: a list of texts, or one text.
func valuesOf(claim any) (all []string) {
	switch v := claim.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []any:
		for _, one := range v[:min(len(v), mostClaimed)] {
			if text, ok := one.(string); ok && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
