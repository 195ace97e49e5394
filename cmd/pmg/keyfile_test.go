package main

import (
	"fmt"
	"os"
	"path/filepath"
	"pmg/internal/testkit/traces"
	"strings"
	"testing"
)

// With store.key_file the texts of messages that wait are on no disk, and are there behind a restart; a command that reads the
// store of a stopped gateway has the key by the configuration; without the key the store is refused.
func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("6b", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	config := func(options string) string {
		return fmt.Sprintf(`store: {dir: %s/data%s}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0", tokens: [{name: shop, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0", scope: administer}]}
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: smsc, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
accounts: [{system_id: acme, password: "%s", keys: [{name: k, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0"}]}]
routes: [{to: smsc}]
`, dir, options, "secret")
	}
	sealed := config(", key_file: " + key)
	t.Run("accepts", func(t *testing.T) {
		r := runServer(t, sealed)
		api := caller{t, "http://" + r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String(), "pmg_test"}
		api.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "unmistakable words"}`, 202, nil)
	})
	if found := traces.Find(t, filepath.Join(dir, "data"), "", "unmistakable"); len(found) > 0 {
		t.Errorf("the text is in %q", found)
	}
	file := filepath.Join(dir, "pmg.yaml")
	if err := os.WriteFile(file, []byte(sealed), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := pmg(t, "queue list --json --text -c "+file); err != nil || !strings.Contains(out, "unmistakable words") {
		t.Errorf("%s %v", out, err)
	}
	if err := os.WriteFile(file, []byte(config("")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pmg(t, "queue list -c "+file); err == nil || !strings.Contains(err.Error(), "store.key_file has not the key") {
		t.Errorf("without the key: %v", err)
	}
	t.Run("goes on", func(t *testing.T) {
		r := runServer(t, sealed)
		api := caller{t, "http://" + r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String(), "pmg_test"}
		var all struct{ Messages []struct{ To, State string } }
		for len(all.Messages) == 0 {
			api.ask("GET /v1/messages", "", 200, &all)
		}
		if m := all.Messages[0]; m.State != "queued" || m.To != "+46701740600" {
			t.Errorf("%+v", m)
		}
	})
}
