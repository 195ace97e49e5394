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

// The status and the metrics show when a certificate expires.
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
	cfg := *r.gateway.Node.Config()
	cfg.Admin.TLS.Certificate, cfg.Admin.TLS.Key = []string{other}, []string{other + "key"}
	r.gateway.Node.SetConfig(&cfg)
	if second, err := ask("https://" + r.admin.Addr()); err != nil || second == first {
		t.Errorf("%s again, %v", second, err)
	}
}

// A kept connection to the admin address ends when its certificate would not be taken any more.
func TestAdminTLSRevoked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"one", "two"} {
		a, err := tlsfiles.NewAuthority(name, time.Hour)
		if err == nil {
			err = errors.Join(a.Issue(file(name+"-pem"), file(name+"-key"), time.Hour, "localhost", "127.0.0.1"), a.Write(file(name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := start(t, parse(t, clientsOnly+"admin: {tls: {certificate: %q, key: %q, client_ca: %q, require_client: true}}\n", t.TempDir(), file("one-pem"), file("one-key"), file("one")), false)
	config, _, err := tlsfiles.Load(&tlsfiles.Options{Authorities: file("one"), Certificates: []string{file("one-pem")}, Keys: []string{file("one-key")}}, false)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: config, MaxConnsPerHost: 1}}
	defer c.CloseIdleConnections()
	ask := func(want int) {
		t.Helper()
		answer, err := c.Get("https://" + r.admin.Addr() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s, want %d", answer.Status, want)
		}
	}
	ask(200)
	cfg := *r.gateway.Node.Config()
	cfg.Admin.TLS.ClientCA = file("two")
	r.gateway.Node.SetConfig(&cfg)
	ask(401)
	if answer, err := c.Get("https://" + r.admin.Addr() + "/healthz"); err == nil {
		answer.Body.Close()
		t.Error("it may connect again")
	}
}
