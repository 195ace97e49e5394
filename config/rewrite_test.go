package config

import (
	"reflect"
	"strings"
	"testing"

	"pmg/config/document"
	"pmg/sms/rewrite"
)

const rewriting = `
accounts: [{system_id: a, password: x, rewrite: {in: source, default: PMG}}]
connectors:
  - name: clients
    direction: in
    address: ":1"
    rewrite:
      - {in: destination, match: "0([1-9].*)", replace: 49$1, ton: 1}
      - {in: source, deny: [112, "BANK*"]}
      - {out: source, strip: 00}
routes: [{to: {account: a}}]
`

// Rules are compiled for each direction, and shown as they can be read again.
func TestRewrite(t *testing.T) {
	t.Parallel()
	c := mustParse(t, rewriting)
	clients, a := &c.Connectors[0], &c.Accounts[0]
	if clients.RewriteIn() == nil || clients.RewriteOut() == nil || a.RewriteIn() == nil || a.RewriteOut() != nil {
		t.Error("rules are missing, or too many")
	}
	if want := (rewrite.Rule{In: "destination", Match: "0([1-9].*)", Replace: "49$1", TON: "1"}); !reflect.DeepEqual(clients.Rewrite[0], want) {
		t.Errorf("%+v, not %+v", clients.Rewrite[0], want)
	}
	if got := clients.Rewrite[2].Strip; got != "00" {
		t.Errorf("a number is read as %q", got)
	}
	const shown = "    rewrite:\n      - in: destination\n        match: \"0([1-9].*)\"\n        replace: \"49$1\"\n        ton: \"1\"\n      - in: source\n        deny: [\"112\", \"BANK*\"]\n"
	if !strings.Contains(Show(c), shown) {
		t.Errorf("shown are\n%s\nnot\n%s", Show(c), shown)
	}
	if again := mustParse(t, strings.ReplaceAll(Show(c), document.Masked, "x")); !reflect.DeepEqual(again.Connectors, c.Connectors) {
		t.Errorf("shown again it is\n%s", Show(again))
	}
}

// A reload puts new rules in force, also none, for connectors and accounts that stay.
func TestRewriteIsLive(t *testing.T) {
	t.Parallel()
	with, without := mustParse(t, rewriting), mustParse(t, strings.ReplaceAll(strings.ReplaceAll(rewriting, "in: source", "out: destination"), "deny: [112, \"BANK*\"]", "npi: 1"))
	for _, c := range []struct{ old, next *Config }{{with, without}, {without, with}} {
		merged := c.next.LiveFrom(c.old)
		if err := merged.Check(); err != nil {
			t.Fatal(err)
		}
		if got, want := merged.Accounts[0].RewriteIn() != nil, c.next.Accounts[0].RewriteIn() != nil; got != want {
			t.Errorf("the account has in rules: %t, not %t", got, want)
		}
		if !reflect.DeepEqual(merged.Connectors[0].rules, c.next.Connectors[0].rules) {
			t.Error("the connector has other rules")
		}
	}
}
