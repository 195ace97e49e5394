package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"pmg/config"
)

// Limits of an attempt.
const (
	dialTime    = 10 * time.Second
	attemptTime = time.Minute      // from the connection to the last answer
	testTime    = 20 * time.Second // of a test, whose operator waits
	mostReplies = 1 << 20          // octets that the server may send
)

// A failure is the reason why the server has not taken a mail.
type failure struct {
	step string // the step of the dialogue that has failed
	err  error
}

func (f *failure) Error() string { return "cannot send a mail: " + f.step + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// code returns the status of the server's answer, 0 if it has not answered.
func (f *failure) code() int {
	var answer *textproto.Error
	if errors.As(f.err, &answer) {
		return answer.Code
	}
	return 0
}

// The steps that are about the mail itself, not about the connection.
const (
	stepFrom = "MAIL"
	stepTo   = "RCPT"
	stepData = "DATA"
)

// isPermanent reports whether another attempt would fail as well: the server has refused this mail for good. What it says about
// the connection or the login may be mended.
func (f *failure) isPermanent() bool {
	return f.code() >= 500 && (f.step == stepFrom || f.step == stepTo || f.step == stepData)
}

// attempt sends a letter once.
func (s *Sender) attempt(ctx context.Context, cfg *config.Mail, l *Letter, id string) error {
	conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", cfg.Server)
	if err != nil {
		return &failure{"connect", err}
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(s.limit)); err != nil {
		return &failure{"connect", err}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c, err := s.open(cfg, &limited{conn, mostReplies})
	if err != nil {
		return err
	}
	for _, one := range []struct {
		step string
		do   func() error
	}{
		{"login", func() error { return logIn(c, cfg) }},
		{stepFrom, func() error { return c.Mail(cfg.Sender().Address) }},
		{stepTo, func() error { return c.Rcpt(l.To) }},
		{stepData, func() error { return write(c, l.message(cfg.Sender(), id, time.Now())) }},
	} {
		if err := one.do(); err != nil {
			return &failure{one.step, err}
		}
	}
	_ = c.Quit() // the server has taken the mail, whatever it answers
	return nil
}

// open begins the dialogue, encrypted as the configuration says. It never goes on without the encryption.
func (s *Sender) open(cfg *config.Mail, conn net.Conn) (*smtp.Client, error) {
	host := cfg.Host()
	secure := &tls.Config{ServerName: host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}
	over := conn
	if cfg.TLS == config.DirectTLS {
		over = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(over, host)
	if err == nil {
		err = c.Hello(greeting(conn.LocalAddr()))
	}
	if err != nil {
		return nil, &failure{"greeting", err}
	}
	if cfg.TLS != config.StartTLS {
		return c, nil
	}
	if ok, _ := c.Extension("STARTTLS"); !ok {
		return nil, &failure{"STARTTLS", errors.New("the server does not offer it: set mail.tls to what it offers")}
	}
	if err := c.StartTLS(secure); err != nil {
		return nil, &failure{"STARTTLS", err}
	}
	return c, nil
}

// greeting returns the name of this machine for EHLO: its address (RFC 5321 §4.1.3), because it may have no name.
func greeting(local net.Addr) string {
	at, err := netip.ParseAddrPort(local.String())
	switch a := at.Addr().Unmap().WithZone(""); {
	case err != nil:
		return "localhost"
	case a.Is6():
		return "[IPv6:" + a.String() + "]"
	default:
		return "[" + a.String() + "]"
	}
}

// write sends the content of a mail, and waits until the server has taken it.
func write(c *smtp.Client, message []byte) error {
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	return w.Close()
}

// message returns the mail as it is sent. The subject is encoded where it has more than printable ASCII, so that no line of the
// head can begin in it, and the text is encoded as a whole.
func (l *Letter) message(from *mail.Address, id string, now time.Time) []byte {
	var b bytes.Buffer
	_, domain, _ := strings.Cut(from.Address, "@")
	for _, h := range [][2]string{
		{"From", from.String()},
		{"To", (&mail.Address{Address: l.To}).String()},
		{"Subject", mime.QEncoding.Encode("utf-8", l.Subject)},
		{"Date", now.Format(time.RFC1123Z)},
		{"Message-ID", "<" + id + "@" + domain + ">"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		_, _ = fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1]) // writing to a buffer does not fail
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = io.WriteString(w, l.Text)
	_ = w.Close()
	return b.Bytes()
}

// limited is a connection whose peer may send only so many octets: a line of SMTP has no end of its own.
type limited struct {
	net.Conn
	left int
}

var errTooMuch = errors.New("the server says too much")

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooMuch
	}
	n, err := l.Conn.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}
