package config

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// OIDCClient are the options of this gateway as a client of a server of OpenID Connect.
type OIDCClient struct {
	Issuer       string   `yaml:"issuer" live:"yes" doc:"Its address, as in its tokens, such as https://login.example.net/realms/ops. Its certificate must be valid for the machine (SSL_CERT_FILE names further authorities)."`
	ClientID     string   `yaml:"client_id" live:"yes" doc:"The name under which it knows this gateway."`
	ClientSecret string   `yaml:"client_secret" secret:"yes" live:"yes" doc:"What it has given the gateway to prove that; empty for a public client."`
	Scopes       []string `yaml:"scopes" default:"profile, email" live:"yes" doc:"Asked for beside openid, to get the claim, whose own scope is asked for where the server has one."`
	Claim        string   `yaml:"claim" default:"groups" live:"yes" doc:"The claim with the groups of somebody who logs in, a text or a list; one within others by its path: realm_access.roles, resource_access.pmg.roles. With email the groups are addresses, and only those that the server has verified count (email_verified)."`
}

// AccountOIDC are the options of logins of users of an account at a server of OpenID Connect.
type AccountOIDC struct {
	OIDCClient          // options of the client
	Look       []string `yaml:"look" live:"yes" doc:"The groups with scope look, as that of users. Somebody has the highest scope of all groups, and cannot log in without one."`
	Send       []string `yaml:"send" live:"yes" doc:"Those with scope send."`
	Manage     []string `yaml:"manage" live:"yes" doc:"Those with scope manage."`
}

// IsSet reports whether a server for logins is configured.
func (o *OIDCClient) IsSet() bool { return o.Issuer != "" }

// A grant is a scope, and the groups that have it.
type grant struct {
	scope  string
	groups []string
}

// highest returns the scope of the first grant with one of the groups, "" if there is none. Grants begin with the highest scope.
func highest(groups []string, grants []grant) string {
	for _, s := range grants {
		if slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(s.groups, g) }) {
			return s.scope
		}
	}
	return ""
}

// ScopeOf returns the highest scope of some groups, "" if the groups have no scope.
func (o *AccountOIDC) ScopeOf(groups []string) string { return highest(groups, o.grants()) }

// grants returns who has which scope.
func (o *AccountOIDC) grants() []grant {
	return []grant{{ManageScope, o.Manage}, {SendScope, o.Send}, {LookScope, o.Look}}
}

// Proof returns a text that changes with any option of the section: a login lasts until the text changes.
func (o *AccountOIDC) Proof() string { return proofOf(&o.OIDCClient, *o) }

// proofOf returns a text that changes with any option of a section, "" if it has no server.
func proofOf(o *OIDCClient, section any) string {
	if !o.IsSet() {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", section)))
}

// checkOIDCClient checks a section with a server at which people log in. others reports whether it has further options.
func checkOIDCClient(d *decoder, path string, o *OIDCClient, grants []grant, others bool) {
	lets := slices.ContainsFunc(grants, func(g grant) bool { return len(g.groups) > 0 })
	if !o.IsSet() {
		if o.ClientID+o.ClientSecret != "" || lets || others {
			d.problem(path+".issuer", "must be given: the address of the server at which people log in")
		}
		return
	}
	checkBrowsed(d, path+".issuer", o.Issuer)
	if o.ClientID == "" {
		d.problem(path+".client_id", "must be given: the name under which the server knows this gateway")
	}
	if !lets {
		var scopes []string
		for _, g := range grants {
			scopes = append([]string{g.scope}, scopes...)
		}
		last := len(scopes) - 1
		d.problem(path, "lets nobody in: name groups below %s or %s", strings.Join(scopes[:last], ", "), scopes[last])
	}
}

// checkBrowsed checks an address that browsers are led to while somebody logs in.
func checkBrowsed(d *decoder, path, text string) {
	at, err := url.Parse(text)
	if err != nil {
		at = &url.URL{}
	}
	switch {
	case at.Host == "", at.Scheme != "https" && at.Scheme != "http", at.User != nil, at.RawQuery+at.Fragment != "":
		d.problem(path, "must be an address such as https://login.example.net, not %q", text)
	case at.Scheme == "http" && !isLoopbackHost(at.Hostname()):
		d.problem(path, "must begin with https://, because whoever is in between would read who logs in, and how")
	}
}

// checkAccountOIDC checks the section of the server at which users of an account log in.
func checkAccountOIDC(d *decoder, a *Account, path string, connectors []Connector) {
	o := &a.Logins.OIDC
	checkOIDCClient(d, path+".oidc", &o.OIDCClient, o.grants(), false)
	serves := func(c Connector) bool { return c.servesPages(a) && c.HTTP.PortalURL != "" }
	if o.IsSet() && !slices.ContainsFunc(connectors, serves) {
		d.warn(path+".oidc", "lets nobody in: no connector that the account may use has portal: true and portal_url")
	}
}

// servesPages reports whether users of an account may log in on a connector.
func (c *Connector) servesPages(a *Account) bool {
	return c.Transport() == ByRequest && c.HTTP.Portal && a.MayUse(c)
}
