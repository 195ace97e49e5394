package ask

import (
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

// serve answers requests with a text, at a socket or at an address.
func serve(t *testing.T, network, address, text string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(text + " " + r.URL.Path + r.Header.Get("Authorization")))
	}))
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

// A gateway is asked at its socket if that answers, and otherwise at its address.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := testutil.ShortDir(t)
	socket := filepath.Join(dir, "admin.sock")
	address := serve(t, "tcp", "127.0.0.1:0", "address")
	c := &config.Config{Admin: config.Admin{Address: address}, Store: config.Store{Dir: dir}}
	want := func(wanted string) {
		t.Helper()
		var g Gateway
		if err := g.Find(c, "pmg.yaml"); err != nil {
			t.Fatal(err)
		}
		a, err := g.Request(t.Context(), time.Minute, http.MethodGet, "/status")
		if err != nil || string(a.Body) != wanted {
			t.Errorf("%q, %v, not %q", a.Body, err, wanted)
		}
	}
	want("address /status")
	serve(t, "unix", socket, "socket")
	want("socket /status")
	c.Admin.Address = ""
	want("socket /status")
	c.Admin.Socket = "off"
	if err := new(Gateway).Find(c, "pmg.yaml"); err == nil || !strings.Contains(err.Error(), "pmg.yaml sets no admin.address and no admin.socket") {
		t.Errorf("without either: %v", err)
	}
}

// --address takes host:port, a URL and a path.
func TestAddress(t *testing.T) {
	t.Parallel()
	socket := serve(t, "unix", filepath.Join(testutil.ShortDir(t), "s"), "socket")
	address := serve(t, "tcp", "127.0.0.1:0", "address")
	_, port, _ := net.SplitHostPort(address)
	for given, wanted := range map[string]string{
		address: "address /x", "http://" + address: "address /x", "http://" + address + "/": "address /x",
		":" + port: "address /x", "0.0.0.0:" + port: "address /x", socket: "socket /x",
	} {
		a, err := (&Gateway{Address: given}).Request(t.Context(), time.Minute, http.MethodGet, "/x")
		if err != nil || string(a.Body) != wanted {
			t.Errorf("%s: %q, %v, not %q", given, a.Body, err, wanted)
		}
	}
}

// The token goes to an address, and not to a socket. That of the file comes before that of the environment.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("pmg_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PMG_ADMIN_TOKEN", "pmg_environment")
	socket := serve(t, "unix", filepath.Join(testutil.ShortDir(t), "s"), "socket")
	address := serve(t, "tcp", "127.0.0.1:0", "address")
	for _, c := range []struct {
		g    Gateway
		want string
	}{
		{Gateway{Address: address}, "address /xBearer pmg_environment"},
		{Gateway{Address: address, tokenFile: file}, "address /xBearer pmg_file"},
		{Gateway{Address: socket, tokenFile: file}, "socket /x"},
	} {
		a, err := c.g.Request(t.Context(), time.Minute, http.MethodGet, "/x")
		if err != nil || string(a.Body) != c.want {
			t.Errorf("%+v: %q, %v", c.g, a.Body, err)
		}
	}
}

// An address with https is trusted if its certificate is of the authority that was named.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("encrypted")) }))
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := (&Gateway{Address: s.URL, ca: ca}).Request(t.Context(), time.Minute, http.MethodGet, "/x"); err != nil || string(a.Body) != "encrypted" {
		t.Errorf("%q, %v", a.Body, err)
	}
	for want, g := range map[string]*Gateway{
		"certificate signed by unknown authority": {Address: s.URL}, "has no certificate": {Address: s.URL, ca: os.DevNull}, "is neither host:port": {Address: "ftp://a:1"},
	} {
		if _, err := g.Request(t.Context(), time.Minute, http.MethodGet, "/x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// An address that requires a certificate gets ours.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err := errors.Join(err, a.Write(at("ca")), a.Issue(at("server"), at("server-key"), time.Hour, "127.0.0.1"), a.Issue(at("ours"), at("ours-key"), time.Hour, "operator")); err != nil {
		t.Fatal(err)
	}
	config, _, err := tlsfiles.Load(&tlsfiles.Options{Certificates: []string{at("server")}, Keys: []string{at("server-key")}, Authorities: at("ca"), Require: true}, true)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.TLS.PeerCertificates[0].Subject.CommonName))
	}))
	s.TLS = config
	s.StartTLS()
	defer s.Close()
	g := Gateway{Address: s.URL, ca: at("ca"), certificate: at("ours"), key: at("ours-key")}
	if got, err := g.Request(t.Context(), time.Minute, http.MethodGet, "/x"); err != nil || string(got.Body) != "operator" {
		t.Errorf("%q, %v", got.Body, err)
	}
	g.certificate = ""
	if _, err := g.Request(t.Context(), time.Minute, http.MethodGet, "/x"); err == nil {
		t.Error("served without a certificate")
	}
	g.certificate, g.key = at("ours"), ""
	if _, err := g.Request(t.Context(), time.Minute, http.MethodGet, "/x"); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("without its key: %v", err)
	}
}
