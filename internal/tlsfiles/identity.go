package tlsfiles

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
)

// An Identity is the identity of a peer from its certificate, which a trusted authority has issued. The zero Identity matches
// nothing.
type Identity struct {
	names       []string // names of the subject: its common name, DNS names, e-mail addresses and URIs
	fingerprint string
}

// IdentityOf returns the identity of a certificate.
func IdentityOf(c *x509.Certificate) Identity {
	sum := sha256.Sum256(c.Raw)
	id := Identity{fingerprint: fingerprintPrefix + hex.EncodeToString(sum[:])}
	id.names = slices.Concat(id.names, c.DNSNames, c.EmailAddresses)
	if c.Subject.CommonName != "" {
		id.names = append(id.names, c.Subject.CommonName)
	}
	for _, u := range c.URIs {
		id.names = append(id.names, u.String())
	}
	return id
}

// ValidUntil returns the time until which a server's configuration accepts the certificates that a client has shown. It
// returns the zero time if they are not accepted: their authority was removed, or a certificate has expired.
func ValidUntil(c *tls.Config, shown []*x509.Certificate) (until time.Time) {
	if c.ClientCAs == nil || len(shown) == 0 {
		return until
	}
	o := x509.VerifyOptions{
		Roots: c.ClientCAs, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, other := range shown[1:] {
		o.Intermediates.AddCert(other)
	}
	chains, _ := shown[0].Verify(o)
	for _, chain := range chains {
		end := chain[0].NotAfter
		for _, one := range chain[1:] {
			if one.NotAfter.Before(end) {
				end = one.NotAfter
			}
		}
		if end.After(until) {
			until = end
		}
	}
	return until
}

const fingerprintPrefix = "sha256:"

// IsOneOf reports whether the certificate has one of the names, or of the fingerprints, which begin with "sha256:". Case is
// ignored.
func (id Identity) IsOneOf(wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool {
		if strings.HasPrefix(w, fingerprintPrefix) {
			return strings.EqualFold(w, id.fingerprint)
		}
		return slices.ContainsFunc(id.names, func(name string) bool { return strings.EqualFold(name, w) })
	})
}

// CheckIdentity returns an error for an invalid name or fingerprint.
func CheckIdentity(wanted string) error {
	sum, ok := strings.CutPrefix(wanted, fingerprintPrefix)
	switch {
	case wanted == "":
		return errors.New("must not be empty: give a name of the certificate, or sha256: and its fingerprint")
	case ok && !isHex(sum):
		return errors.New(
			"must be sha256: and 64 hexadecimal digits, as openssl x509 -noout -fingerprint -sha256 prints them, without colons",
		)
	}
	return nil
}

func isHex(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}
