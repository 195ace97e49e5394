package dialogue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"pmg/internal/tlsfiles"
)

// handshake begins TLS, and shows the certificates of the SMSC whether or not they are valid. It returns an error if
// they are not, unless the options allow that.
func handshake(ctx context.Context, out io.Writer, plain net.Conn, a *Address) (conn net.Conn, err error) {
	config, _, err := tlsfiles.Load(a.TLS, false)
	if err != nil {
		return nil, fmt.Errorf("cannot use --%w", err)
	}
	host, _, _ := net.SplitHostPort(a.HostPort)
	if config.ServerName == "" {
		config.ServerName = host
	}
	verify := !config.InsecureSkipVerify
	config.InsecureSkipVerify = true // the chain is printed first, and verified afterwards
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		fmt.Fprintln(out, "  the SMSC asks for a certificate of ours")
		if len(config.Certificates) > 0 {
			return &config.Certificates[0], nil
		}
		return &tls.Certificate{}, nil
	}
	secure := tls.Client(plain, config)
	began := time.Now()
	if err := secure.HandshakeContext(ctx); err != nil {
		if e := (tls.RecordHeaderError{}); errors.As(err, &e) {
			return nil, errors.New("the SMSC does not speak TLS on this port: try without --tls")
		}
		return nil, fmt.Errorf("the TLS handshake has failed: %w", err)
	}
	s := secure.ConnectionState()
	fmt.Fprintf(
		out, "%s, %s, in %s\n", tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite), Rounded(time.Since(began)),
	)
	for i, c := range s.PeerCertificates {
		show(out, i, c)
	}
	if err := verifyChain(config, s.PeerCertificates); err == nil {
		fmt.Fprintln(out, "  the certificate is valid")
	} else if fmt.Fprintf(out, "  the certificate is NOT valid: %s\n", err); verify {
		return nil, errors.New(
			"nothing was sent, because the peer may not be the SMSC: give --ca FILE or --server-name if you " +
				"know them, or --insecure to go on",
		)
	}
	return secure, nil
}

// verifyChain verifies the certificates of a server as crypto/tls does.
func verifyChain(config *tls.Config, chain []*x509.Certificate) error {
	o := x509.VerifyOptions{Roots: config.RootCAs, DNSName: config.ServerName, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	return err
}

// show shows a certificate of a chain.
func show(out io.Writer, depth int, c *x509.Certificate) {
	fmt.Fprintf(out, "  %d  %s, issued by %s, valid until %s (%d days)\n", depth, c.Subject, c.Issuer,
		c.NotAfter.UTC().Format(time.DateOnly), int(time.Until(c.NotAfter).Hours()/24))
	if depth > 0 {
		return
	}
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	fmt.Fprintf(out, "     names: %s\n     pin: %s\n", strings.Join(names, ", "), tlsfiles.Pin(c))
}

// looksLikeTLS reports whether octets begin like a TLS alert.
func looksLikeTLS(b []byte) bool { return len(b) >= 2 && b[0] == 0x15 && b[1] == 3 }
