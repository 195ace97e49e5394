package config

import (
	"fmt"
	"strings"
	"testing"
)

// A section for logins of an account at a server gives the highest scope of groups, may be in a profile, is shown without its secret,
// and says when nobody can log in by it.
func TestAccountOIDC(t *testing.T) {
	t.Parallel()
	const text = `
profiles: [{name: staff, account: {oidc: {issuer: "https://login.example.net", client_id: pmg, client_secret: HUSH, look: [staff]}}}]
accounts: [{system_id: acme, password: x, profile: staff, oidc: {send: [sellers], manage: [bosses]}}, {system_id: bare, password: x}]
connectors: [{name: api, direction: in, protocol: http, address: "127.0.0.1:1", portal: true, portal_url: "https://sms.example.net"}]
`
	c, warnings, err := Parse([]byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprint(warnings), "oidc") {
		t.Error(warnings)
	}
	o := &c.Accounts[0].Logins.OIDC
	for groups, want := range map[string]string{"staff": LookScope, "x sellers staff": SendScope, "staff bosses": ManageScope, "Staff": "", "": ""} {
		if got := o.ScopeOf(strings.Split(groups, " ")); got != want {
			t.Errorf("%s: %q", groups, got)
		}
	}
	other, bare := *o, &c.Accounts[1].Logins.OIDC
	if other.Send = nil; other.Proof() == o.Proof() || o.Proof() == "" || bare.IsSet() || bare.Proof() != "" {
		t.Error("a proof does not follow its section")
	}
	if shown := Show(c) + ShowAccount(&c.Accounts[0]); strings.Contains(shown, "HUSH") || !strings.Contains(shown, "client_secret: ") {
		t.Error(shown)
	}
	changed, _, err := Parse([]byte(strings.Replace(text, "HUSH", "SHHH", 1)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	changes := c.Diff(changed)
	if len(changes) != 1 || !strings.Contains(changes[0].String(), "client_secret") || strings.Contains(changes[0].String(), "H") {
		t.Errorf("%v", changes)
	}
	_, warnings, err = Parse([]byte(strings.Replace(text, `, portal_url: "https://sms.example.net"`, "", 1)), Options{})
	if err != nil || !strings.Contains(fmt.Sprint(warnings), "oidc lets nobody in") {
		t.Errorf("%v %v", err, warnings)
	}
}
