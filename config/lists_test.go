package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reply to an opt-out is one short message for the connector that it leaves by. A connector that sends nothing else needs
// no route.
func TestReplies(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		options, text string
		ok            bool
	}{
		{"", strings.Repeat("x", 160), true},
		{"", strings.Repeat("x", 161), false},
		{"", strings.Repeat("x", 158) + "€", true},
		{"", strings.Repeat("x", 159) + "€", false},
		{"", strings.Repeat("ж", 70), true},
		{"", strings.Repeat("ж", 71), false},
		{"encode_as: ucs2", strings.Repeat("x", 70), true},
		{"encode_as: ucs2", strings.Repeat("x", 71), false},
		{"charset: gsm7-packed, long_messages: pass", strings.Repeat("x", 160), true},
		{"charset: gsm7-packed, long_messages: pass", strings.Repeat("x", 161), false},
		{"protocol: ucp", strings.Repeat("x", 160), true},
		{"protocol: ucp, missing_characters: refuse", strings.Repeat("ж", 70), true},
		{"charset: latin1", strings.Repeat("é", 160), true},
		{"charset: utf8", strings.Repeat("x", 160), true},
		{"charset: utf8", strings.Repeat("ж", 71), false},
	} {
		_, warnings, err := Parse(fmt.Appendf(nil, `
accounts: [{system_id: acme, password: secret, block: [a]}]
lists: [{name: a, file: %q, opt_out_from: [operator], start_reply: %q}]
connectors:
  - {name: operator, direction: out, address: "192.0.2.1:2776", system_id: pmg, password: secret, %s}
  - {name: other, direction: out, address: "192.0.2.1:2776", system_id: pmg, password: secret}
routes: [{to: other}]
`, file, c.text, c.options), Options{})
		if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "start_reply takes more than one short message") {
			t.Errorf("%s, %s: %v", c.options, c.text, err)
		}
		for _, w := range warnings {
			if strings.Contains(fmt.Sprint(w), "is named by no route") {
				t.Error(w)
			}
		}
	}
}
