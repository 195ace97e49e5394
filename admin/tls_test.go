package admin

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
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

// The admin address speaks TLS, the socket does not. A certificate that is changed is shown to those who connect then.
func TestAdminTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, ca := filepath.Join(dir, "pem"), filepath.Join(dir, "key"), filepath.Join(dir, "ca")
	if err := errors.Join(a.Issue(certificate, key, time.Hour, "localhost", "127.0.0.1"), a.Write(ca)); err != nil {
		t.Fatal(err)
	}
	r := start(t, parse(t, clientsOnly+"admin: {tls: {certificate: %q, key: %q}}\n", t.TempDir(), certificate, key), false)
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	ask := func(address string) (serial string, err error) {
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
		answer, err := c.Get(address + "/healthz")
		if err != nil {
			return "", err
		}
		_ = answer.Body.Close()
		if answer.TLS != nil {
			serial = answer.TLS.PeerCertificates[0].SerialNumber.String()
		}
		if answer.StatusCode != 200 {
			err = errors.New(answer.Status)
		}
		return serial, err
	}
	first, err := ask("https://" + r.admin.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(r.url); err == nil {
		t.Error("a plain request is served")
	}
	if answer, err := r.local().Get(r.url + "/admin/v1/status"); err != nil || answer.StatusCode != 200 {
		t.Errorf("over the socket: %v", err)
	}
	answer, err := r.local().Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.Contains(string(text), "\npmg_admin_certificate_expires_timestamp_seconds 1") {
		t.Errorf("the metrics do not have when the certificate expires: %v", err)
	}
	other := filepath.Join(dir, "other")
	if err := a.Issue(other, other+"key", time.Hour, "localhost", "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	cfg := *r.gateway.Config()
	cfg.Admin.TLS.Certificate, cfg.Admin.TLS.Key = []string{other}, []string{other + "key"}
	r.gateway.SetConfig(&cfg)
	if second, err := ask("https://" + r.admin.Addr()); err != nil || second == first {
		t.Errorf("%s again, %v", second, err)
	}
}
