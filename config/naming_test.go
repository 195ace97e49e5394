package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A problem names the entry of a list that it is about: by its name, wherever that stands in the entry, or by its line.
func TestEntriesAreNamed(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"accounts: [{rate: x, system_id: acme, password: a}]":                          "accounts[acme].rate must",
		"accounts:\n  - {system_id: a, password: a}\n  - {system_id: acme, bind: [x]}": "accounts[acme].bind[0] must",
		"accounts: {system_id: acme, rate: x}":                                         "accounts[acme].rate must",
		"accounts: [{system_id: acme, keys: [{name: web, scopes: [x]}]}]":              "accounts[acme].keys[web].scopes[0] must",
		"accounts: [{system_id: acme, keys: [{name: \"a b\", hash: x}]}]":              "accounts[acme].keys[0].name must",
		"accounts: [{rate: x}]":                                                              "accounts[line 1].rate must",
		"accounts: [{system_id: \"a\\nb\", rate: x}]":                                        "accounts[line 1].rate must",
		"accounts: [{system_id: [acme], rate: x}]":                                           "accounts[line 1].rate must",
		"accounts: [{name: acme, rate: x}]":                                                  "accounts[line 1].rate must",
		"connectors: [{window: x, name: telia}]":                                             "connectors[telia].window must",
		"connectors: [{system_id: pmg, window: x}]":                                          "connectors[line 1].window must",
		"connectors:\n  - name: telia\n    address: [a, \"b:1\"]\n    direction: in":         "connectors[telia].address must",
		"routes:\n  - {to: none}":                                                            "routes[line 2].to[0] names",
		"routes: [{to: nobody}, {to: none}]":                                                 "routes[line 1, column 24].to[0] names",
		"routes: [\n  {to: nobody},\n  {to: none}]":                                          "routes[line 3].to[0] names",
		"lists: [{file: x, name: vip}]":                                                      "lists[vip].file names",
		"prices: [{currency: x, name: gold}]":                                                "prices[gold].currency must",
		"admin: {tokens: [{name: ops, hash: x}]}":                                            "admin.tokens[ops].hash must",
		"plugins: [{name: score}]":                                                           "plugins[score] must",
		"hooks:\n  - {on: accept}":                                                           "hooks[line 2]",
		"accounts: [{system_id: acme, password: x, rewrite: [{in: destination, match: (}]}]": "accounts[acme].rewrite[0].match is not",
	} {
		_, _, err := Parse([]byte(yaml+"\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", yaml, err, want)
		}
	}
}

// A route has one name in problems, changes and metrics: that of its file, or its line.
func TestRoutesAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "managed/routes"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"pmg.yaml": "managed: {dir: managed}\naccounts: []\nconnectors:\n  - {name: one, direction: out, address: \"a:1\", system_id: x}\n" +
			"routes:\n  - {destination: 46, to: one}\n  - {to: one}\n",
		"managed/routes/vip.yaml": "tag: vip\nto: one\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := Load(filepath.Join(dir, "pmg.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join([]string{c.RouteAs(0), c.RouteAs(1), c.RouteAs(2), c.RouteAs(3)}, " "); got != "routes[vip] routes[line 6] routes[line 7] routes[3]" {
		t.Error(got)
	}
	other := *c
	other.Connectors = nil // as if the options of two configurations did not fit together
	if err := other.Check(); err == nil || !strings.Contains(err.Error(), "routes[vip].to[0] names no connector") ||
		!strings.Contains(err.Error(), "routes[line 7].to[0]") {
		t.Error(err)
	}
}
