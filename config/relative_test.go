package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pmg/internal/tlsfiles"
)

// A configuration is the same whether its path is relative, as at a start, or absolute, as at a reload.
func TestRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err := errors.Join(err, os.Mkdir("tls", 0o700), a.Write("tls/ca.pem"), a.Issue("tls/our.pem", "tls/our-key.pem", time.Hour, "localhost"),
		os.WriteFile("prefixes", []byte("46\n"), 0o600), os.WriteFile("secret", []byte("secret"), 0o600), os.WriteFile("pmg.yaml", []byte(`
pdulog: {dir: logs}
store: {dir: data}
events: {dir: events}
admin: {address: "127.0.0.1:2780", audit: audit, tls: {certificate: tls/our.pem, key: tls/our-key.pem}, tokens: [{name: a, hash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]}
accounts: [{system_id: acme, password: "${FILE:secret}"}]
connectors:
  - {name: clients, direction: in, address: ":2775", tls: {certificate: tls/our.pem, key: tls/our-key.pem, client_ca: tls/ca.pem}}
  - {name: op, direction: out, address: "localhost:2776", system_id: pmg, tls: {ca: tls/ca.pem}}
lists: [{name: numbers, file: prefixes}]
routes: [{destination_file: prefixes, to: op}]
`), 0o600)); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var loaded [2]*Config
	for i, file := range []string{"pmg.yaml", dir + "/pmg.yaml"} {
		if loaded[i], _, err = Load(file, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if changes := loaded[0].Diff(loaded[1]); len(changes) > 0 || loaded[0].Connectors[1].Rebinds(&loaded[1].Connectors[1]) {
		t.Errorf("%v", changes)
	}
}

// A word in the place of a section of tls is refused with the list of the words that there are.
func TestTLSWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"yes": `connectors[op].tls must be true or false, not "yes"`, "true": "", "false": ""} {
		_, _, err := Parse([]byte(`connectors: [{name: op, direction: out, address: "localhost:2776", system_id: pmg, tls: `+word+`}]`), Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("tls: %s: %v", word, err)
		}
	}
}
