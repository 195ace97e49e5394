package tlsfiles

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Options are the certificates of a side of TLS, and the authorities that it trusts. Files are in PEM form.
type Options struct {
	Certificates []string // files of certificates, each with its chain; a server selects one by the name that the client asks for
	Keys         []string // keys of the certificates, in the same order
	// file with the authorities for peers' certificates; "": a client trusts those of the system, a server requests no
	// certificates
	Authorities string
	Require     bool     // server: a client must have a certificate
	ServerName  string   // client: required name of the server's certificate; "": the name in Config
	Pins        []string // client: pins, as Pin returns them; the server's public key must match one
	Oldest      uint16   // oldest version
	Insecure    bool     // client: any certificate is taken
}

// An OptionError is the error of an option.
type OptionError struct {
	Option string // name of the option in a connector's section tls
	Err    error
}

// Error returns the option and its error.
func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns the error.
func (e *OptionError) Unwrap() error { return e.Err }

// Load makes the configuration of a server or a client, and returns the time when the first of its own certificates expires,
// or the zero time if it has none. The error is an *OptionError.
func Load(o *Options, server bool) (config *tls.Config, expires time.Time, err error) {
	config = &tls.Config{
		MinVersion: o.Oldest, ServerName: o.ServerName, InsecureSkipVerify: o.Insecure,
		DynamicRecordSizingDisabled: true, // a batch of PDUs is sent as one record
	}
	if len(o.Certificates) != len(o.Keys) {
		return nil, expires, &OptionError{
			"key", fmt.Errorf("must name as many files as certificate: %d, not %d", len(o.Certificates), len(o.Keys)),
		}
	}
	for i, file := range o.Certificates {
		c, err := pair(file, o.Keys[i])
		if err != nil {
			return nil, expires, err
		}
		if end := c.Leaf.NotAfter; expires.IsZero() || end.Before(expires) {
			expires = end
		}
		config.Certificates = append(config.Certificates, c)
	}
	if server && len(o.Certificates) == 0 {
		return nil, expires, &OptionError{
			"certificate", errors.New("is required, with key, for a connector that listens: pmg tls init makes one for tests"),
		}
	}
	if o.Authorities != "" {
		pool, err := authorities(o.Authorities)
		if err != nil && server {
			return nil, expires, &OptionError{"client_ca", err}
		} else if err != nil {
			return nil, expires, &OptionError{"ca", err}
		}
		config.RootCAs, config.ClientCAs = pool, pool
	}
	switch {
	case o.Require:
		config.ClientAuth = tls.RequireAndVerifyClientCert
	case server && o.Authorities != "":
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, expires, pin(config, o.Pins)
}

// pin restricts a configuration to peers with certain public keys, if there are any.
func pin(config *tls.Config, pins []string) error {
	for _, p := range pins {
		if b, err := base64.StdEncoding.DecodeString(p); err != nil || len(b) != sha256.Size {
			return &OptionError{"pin", fmt.Errorf(
				"must be the SHA-256 of a public key in base64, 44 characters, not %q: "+
					"the log shows the key of a peer that does not match", p,
			)}
		}
	}
	if len(pins) > 0 {
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if p := Pin(s.PeerCertificates[0]); !slices.Contains(pins, p) {
				return fmt.Errorf("the peer's public key is %s, which is not in pin", p)
			}
			return nil
		}
	}
	return nil
}

func pair(certificate, key string) (c tls.Certificate, err error) {
	chain, err := os.ReadFile(certificate)
	if err != nil {
		return c, &OptionError{"certificate", reason(err)}
	}
	if block, _ := pem.Decode(chain); block == nil || block.Type != "CERTIFICATE" {
		return c, &OptionError{
			"certificate", fmt.Errorf("%s has no certificate in PEM form (-----BEGIN CERTIFICATE-----)", certificate),
		}
	}
	secret, err := os.ReadFile(key)
	if err != nil {
		return c, &OptionError{"key", reason(err)}
	}
	if c, err = tls.X509KeyPair(chain, secret); err != nil {
		return c, &OptionError{"key", fmt.Errorf("%s does not match the certificate %s: %w", key, certificate, err)}
	}
	return c, nil
}

func authorities(file string) (*x509.CertPool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, reason(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s has no certificate in PEM form (-----BEGIN CERTIFICATE-----)", file)
	}
	return pool, nil
}

// reason returns the error of reading a file.
func reason(err error) error { return fmt.Errorf("cannot read it: %w", err) }

// Pin returns the pin of a certificate's public key for Options.Pins: its SHA-256 in base64.
func Pin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}
