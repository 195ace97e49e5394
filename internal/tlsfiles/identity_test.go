package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// A certificate is taken while its authority is in force, and it has not expired.
func TestValidUntil(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var pools []*tls.Config
	var issuers []*Authority
	for _, name := range []string{"one", "two"} {
		a, err := NewAuthority(name, time.Hour)
		if err == nil {
			err = a.Write(file(name))
		}
		if err != nil {
			t.Fatal(err)
		}
		roots, err := authorities(file(name))
		if err != nil {
			t.Fatal(err)
		}
		issuers, pools = append(issuers, a), append(pools, &tls.Config{ClientCAs: roots})
	}
	shown := func(name string, lasts time.Duration) []*x509.Certificate {
		t.Helper()
		if err := issuers[0].Issue(file(name), file(name+"-key"), lasts, "acme"); err != nil {
			t.Fatal(err)
		}
		c, err := tls.LoadX509KeyPair(file(name), file(name+"-key"))
		if err != nil {
			t.Fatal(err)
		}
		return []*x509.Certificate{c.Leaf}
	}
	good, long, expired := shown("good", time.Minute), shown("long", 2*time.Hour), shown("expired", -time.Minute)
	for _, test := range []struct {
		name  string
		by    *tls.Config
		shown []*x509.Certificate
		want  time.Time
	}{
		{"good", pools[0], good, good[0].NotAfter},
		{"another authority", pools[1], good, time.Time{}},
		{"none is asked for", &tls.Config{}, good, time.Time{}},
		{"none is shown", pools[0], nil, time.Time{}},
		{"expired", pools[0], expired, time.Time{}},
	} {
		if got := ValidUntil(test.by, test.shown); !got.Equal(test.want) {
			t.Errorf("%s: until %v, want %v", test.name, got, test.want)
		}
	}
	if got := ValidUntil(pools[0], long); !got.Before(long[0].NotAfter) {
		t.Errorf("until %v, longer than its authority", got)
	}
}
