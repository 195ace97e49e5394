package tlsfiles

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	uri, _ := url.Parse("spiffe://example.net/acme")
	id := IdentityOf(&x509.Certificate{
		Raw: []byte("raw"), Subject: pkix.Name{CommonName: "Acme", Organization: []string{"org"}}, DNSNames: []string{"acme.example.net"},
		EmailAddresses: []string{"sms@example.net"}, URIs: []*url.URL{uri},
	})
	const fingerprint = "sha256:8c5d8bf9f9e18b4a4e01d8fb8a3e1b0e7d6ef9b2d3a1c0a5f2b3c4d5e6f70812"
	for want, is := range map[string]bool{
		"acme": true, "ACME.example.net": true, "sms@example.net": true, "spiffe://example.net/acme": true, id.fingerprint: true,
		"sha256:" + strings.ToUpper(id.fingerprint[7:]): true,
		"": false, "org": false, "example.net": false, "acme.example.net.": false, fingerprint: false, "sha256:": false,
	} {
		if id.IsOneOf([]string{"other", want}) != is {
			t.Errorf("%q: %v", want, !is)
		}
	}
	if (Identity{}).IsOneOf([]string{"", "sha256:", "acme"}) {
		t.Error("nobody is somebody")
	}
	if id.IsOneOf(nil) {
		t.Error("everybody is taken")
	}
	for wanted, ok := range map[string]bool{"acme": true, fingerprint: true, "": false, "sha256:ab": false, "sha256:" + strings.Repeat("zz", 32): false} {
		if err := CheckIdentity(wanted); (err == nil) != ok {
			t.Errorf("%q: %v", wanted, err)
		}
	}
}
