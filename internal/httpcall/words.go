package httpcall

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// maxWords is how many octets of a foreign text an error shows.
const maxWords = 160

// closedIdle is how the text of an error of net/http ends that has no name of its own.
const closedIdle = "http: server closed idle connection"

// words returns the reason why a call was not answered, and whether only a person can solve the problem.
func words(err error) (text string, slow bool) {
	var (
		address     *notPublic
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		remote      *net.OpError
	)
	switch {
	case errors.As(err, &address):
		return address.Error(), true
	case errors.As(err, &name) && name.IsNotFound:
		return "does not resolve", false
	case errors.As(err, &name):
		return "cannot be resolved now", false
	case errors.As(err, &certificate):
		return certificateWords(certificate), false
	case errors.As(err, &record):
		return "does not speak TLS", false
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert of TLS
		return "ended TLS (" + remote.Err.Error() + ")", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused the connection", false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "closed the connection before its answer was whole", false
	case strings.HasSuffix(err.Error(), closedIdle):
		return "closed the connection before the call", false
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ETIMEDOUT):
		return "cannot be reached", false
	}
	text = strings.ReplaceAll(err.Error(), "net/http: ", "")
	return "failed: " + strings.ToValidUTF8(text[:min(len(text), maxWords)], "?"), false
}

// certificateWords returns the problem of a server's certificate.
func certificateWords(err *tls.CertificateVerificationError) string {
	var (
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "has a certificate that is not valid before " + day(invalid.Cert.NotBefore)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "has a certificate that expired on " + day(invalid.Cert.NotAfter)
	case errors.As(err, &host):
		return "has a certificate for other names"
	case errors.As(err, &unknown):
		return "has a certificate of an authority that is not known"
	}
	return "has a certificate that is not valid"
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
