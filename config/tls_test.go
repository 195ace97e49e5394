package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/tlsfiles"
)

// O14: tls: true is the machine's authorities for a connector that connects, and needs a certificate on one that
// listens. What does not fit together is reported at the option that is wrong.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := a.Issue(filepath.Join(dir, name), filepath.Join(dir, name+"-key"), time.Hour, name); err != nil {
			t.Fatal(err)
		}
	}
	const in, out = "{name: a, direction: in, address: ':1', ", "{name: a, direction: out, address: 'h:1', system_id: a, password: b, "
	for _, test := range []struct{ connector, problem string }{
		{out + "tls: true}", ""},
		{out + "tls: {}}", ""},
		{out + "tls: {insecure: true, server_name: smsc.test}}", ""},
		{in + "tls: {certificate: DIR/one, key: DIR/one-key}}", ""},
		{in + "tls: {enabled: false, certificate: DIR/none, key: DIR/none}}", ""},
		{in + "tls: true}", "connectors[a].tls.certificate"},
		{in + "tls: {certificate: DIR/one, key: DIR/two-key}}", "connectors[a].tls.key"},
		{in + "tls: {certificate: DIR/one, key: DIR/one-key, require_client: true}}", "needs client_ca"},
		{in + "tls: {certificate: DIR/one, key: DIR/one-key, client_ca: DIR/none}}", "connectors[a].tls.client_ca"},
		{out + "tls: {pin: abc}}", "SHA-256"},
		{out + "tls: {min_version: 1.1}}", "must be 1.2 or 1.3"},
	} {
		yaml := "accounts: []\nconnectors: [" + strings.ReplaceAll(test.connector, "DIR", dir) + "]\n"
		c, _, err := Parse([]byte(yaml), Options{})
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("%s: %v", yaml, err)
		case test.problem == "" && c.Connectors[0].TLS.Enabled == strings.Contains(yaml, "enabled: false"):
			t.Errorf("%s: enabled is %t", yaml, c.Connectors[0].TLS.Enabled)
		case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("%s: %v, want %s", yaml, err, test.problem)
		}
	}
	yaml := "accounts: []\nconnectors: [" + out + "tls: {client_ca: x, require_client: true}}, " + strings.ReplaceAll(in, "name: a", "name: b") + "tls: {certificate: DIR/one, key: DIR/one-key, ca: x, pin: x, insecure: true}}]\n"
	_, warnings, err := Parse([]byte(strings.ReplaceAll(yaml, "DIR", dir)), Options{})
	var told []string
	for _, w := range warnings {
		told = append(told, w.Path)
	}
	if got := strings.Join(told, " "); err != nil || !strings.Contains(got, "connectors[a].tls.client_ca connectors[a].tls.require_client connectors[b].tls.ca connectors[b].tls.pin connectors[b].tls.insecure") {
		t.Errorf("warnings of %s; %v", got, err)
	}
}
