package admin

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/tlsfiles"
)

// The status and the metrics tell when a certificate expires.
func TestCertificateExpires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := filepath.Join(dir, "pem"), filepath.Join(dir, "key")
	if err := a.Issue(certificate, key, time.Hour, "localhost"); err != nil {
		t.Fatal(err)
	}
	const yaml = "pdulog: {enabled: false}\naccounts: []\nconnectors: [{name: clients, direction: in, address: '127.0.0.1:0', tls: {certificate: %q, key: %q}}]\n"
	r := start(t, parse(t, yaml, certificate, key), false)
	left := time.Until(*r.status().Connectors[0].CertificateExpires)
	if left < 50*time.Minute || left > time.Hour {
		t.Errorf("it expires in %s", left)
	}
	if _, text := r.get("/metrics"); !strings.Contains(text, `pmg_connector_certificate_expires_timestamp_seconds{connector="clients"} 1`) {
		t.Error("the metrics do not have the time")
	}
}
