package oidc

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// opsOperate gives the group ops a scope.
func opsOperate(groups []string) string {
	if slices.Contains(groups, "ops") {
		return "operate"
	}
	return ""
}

// Groups are read where the option says, also within other claims. A token without them is said to be that.
func TestScopeOf(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	list := func(all ...any) []any { return all }
	for _, one := range []struct {
		claim  string
		claims object
		why    string // there is no scope
	}{
		{"groups", object{"groups": list("x", 7, "ops")}, ""},
		{"groups", object{"groups": "ops"}, ""},
		{"realm_access.roles", object{"realm_access": object{"roles": list("x", "ops")}}, ""},
		{"resource_access.pmg.roles", object{"resource_access": object{"pmg": object{"roles": list("ops")}}}, ""},
		{"resource_access.pmg.example.net.roles", object{"resource_access": object{"pmg.example.net": object{"roles": list("ops")}}}, ""},
		{"https://pmg.example.net/groups", object{"https://pmg.example.net/groups": "ops"}, ""},
		{"a.b", object{"a.b": list("ops"), "a": object{"b": "x"}}, ""},
		{"a.b.c", object{"a.b": object{"x": "x"}, "a": object{"b": object{"c": "ops"}}}, ""},
		{"groups", object{"groups": list("ops"), "_claim_names": object{"groups": "src1"}}, ""},

		{"realm_access.roles", object{"realm_access": object{"roles": list("x")}}, "none of your groups has a role"},
		{"groups", object{"groups": list("OPS")}, "none of your groups has a role"},
		{"realm_access.roles", object{"realm_access": "ops"}, "has no claim realm_access.roles"},
		{"realm_access.roles", object{}, "has no claim realm_access.roles"},
		{"groups", object{"roles": list("ops")}, "has no claim groups"},
		{"groups", object{"groups": nil}, "has no claim groups"},
		{"groups", object{"groups": list()}, "has no groups"},
		{"groups", object{"groups": ""}, "has no groups"},
		{"groups", object{"groups": object{"ops": true}}, "has no groups"},
		{"email", object{"email": "ops", "email_verified": true}, ""},
		{"email", object{"email": "ops", "email_verified": "true"}, ""},
		{"email", object{"email": "ops", "email_verified": false}, "not verified"},
		{"email", object{"email": "ops"}, "not verified"},
		{"groups", object{"_claim_names": object{"groups": "src1"}}, "too many for the server"},
		{"groups", object{"hasgroups": true}, "too many for the server"},
		{"roles", object{"_claim_names": object{"groups": "src1"}}, "has no claim roles"},
	} {
		scope, err := scopeOf(&Client{Claim: one.claim, ScopeOf: opsOperate}, one.claims)
		switch {
		case one.why == "" && (err != nil || scope != "operate"),
			one.why != "" && (!errors.Is(err, ErrNoRole) || !strings.Contains(err.Error(), one.why)):
			t.Errorf("%s of %v: %q %v", one.claim, one.claims, scope, err)
		}
	}
}
