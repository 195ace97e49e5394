package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/testkit/documents"
)

// The configurations in docs/tls.md are valid with the files that pmg tls init makes.
func TestTLSDocument(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := runPMG(&out, "tls", "init", dir); err != nil || !strings.Contains(out.String(), "server-key.pem") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if err := runPMG(&out, "tls", "init", dir); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("certificates are made in the place of others: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "operator.password"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/tls.md")
	if err != nil {
		t.Fatal(err)
	}
	all := documents.Blocks(string(text), "yml")
	if len(all) != 3 {
		t.Fatalf("%d configurations", len(all))
	}
	for _, yaml := range all {
		file := filepath.Join(dir, "pmg.yaml")
		if !strings.Contains(yaml, "accounts:") {
			yaml = "accounts: []\n" + yaml
		}
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := config.Load(file, config.Options{Protocols: protocolNames()})
		if err != nil || !c.Connectors[0].TLS.Enabled {
			t.Errorf("%v\n%s", err, yaml)
		}
	}
}
