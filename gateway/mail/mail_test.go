package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/node"
	"pmg/internal/testkit/smtptest"
	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// A rig is a sender, with the log of its gateway.
type rig struct {
	*Sender
	log testutil.Log
}

// newSender returns a sender to a server, which does not run yet.
func newSender(cfg config.Mail) *rig {
	if cfg.From == "" {
		cfg.From = "PMG <sms@example.net>"
	}
	all := config.Default()
	all.Mail = cfg
	r := &rig{}
	r.Sender = New(node.New(all, zerolog.New(&r.log)))
	r.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	return r
}

// run runs the sender until the end of the test.
func (r *rig) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// newRig runs a sender to a server.
func newRig(t *testing.T, cfg config.Mail, change ...func(*Sender)) *rig {
	t.Helper()
	r := newSender(cfg)
	for _, one := range change {
		one(r.Sender)
	}
	r.run(t)
	return r
}

func letter() Letter {
	return Letter{Kind: "test", Account: "acme", To: "ann@example.net", Subject: "Hej", Text: "hello\n"}
}

// secure returns the TLS of a server on this machine, and the authority of its certificate.
func secure(t *testing.T, names ...string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err == nil {
		err = errors.Join(
			a.Write(filepath.Join(dir, "ca")), a.Issue(filepath.Join(dir, "cert"), filepath.Join(dir, "key"), time.Hour, names...),
		)
	}
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(filepath.Join(dir, "ca"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, roots
}

// Mail is sent plain, by STARTTLS and by TLS, without a login and with either mechanism, and says what it is.
func TestSent(t *testing.T) {
	t.Parallel()
	own, roots := secure(t, "127.0.0.1")
	trust := func(s *Sender) { s.roots = roots }
	login := []string{"pmg", "s3cret"}
	for name, c := range map[string]struct {
		server smtptest.Options
		tls    string
		user   string
	}{
		"plain":              {smtptest.Options{}, config.PlainMail, ""},
		"plain with a login": {smtptest.Options{Login: login, By: "LOGIN"}, config.PlainMail, "pmg"},
		"STARTTLS":           {smtptest.Options{TLS: own, Login: login, By: "CRAM-MD5 PLAIN"}, config.StartTLS, "pmg"},
		"TLS":                {smtptest.Options{TLS: own, Direct: true, Login: login, By: "LOGIN"}, config.DirectTLS, "pmg"},
		"8BITMIME":           {smtptest.Options{Offers: []string{"8BITMIME", "SMTPUTF8", "SIZE 100000"}}, config.PlainMail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smtptest.New(t, c.server)
			cfg := config.Mail{Server: s.Address, TLS: c.tls}
			if c.user != "" {
				cfg.User, cfg.Password = login[0], login[1]
			}
			r := newRig(t, cfg, trust)
			if !r.Add(letter()) {
				t.Fatal("there is no room")
			}
			testutil.Eventually(t, "it is sent", func() bool { return r.Figures().Sent == 1 })
			m := s.Took()[0]
			if m.From != "sms@example.net" || m.To != "ann@example.net" || m.User != c.user || m.Encrypted != (c.tls != config.PlainMail) {
				t.Errorf("%+v", m)
			}
			if m.Header("From") != `"PMG" <sms@example.net>` || m.Header("To") != "<ann@example.net>" || m.Header("Auto-Submitted") != "auto-generated" {
				t.Error(m.Text)
			}
			if f := r.Figures(); f != (Figures{Sent: 1}) {
				t.Errorf("%+v", f)
			}
			if log := r.log.String(); strings.Contains(log, "ann@") || strings.Contains(log, "hello") || !strings.Contains(log, `"domain":"example.net"`) {
				t.Error(log)
			}
		})
	}
}

// Whatever the subject and the text have, the head of a mail has its fields and no others, and the text arrives as it is.
func TestMessage(t *testing.T) {
	t.Parallel()
	from := &netmail.Address{Name: "Ann \"A\"\r\nBcc: x@example.net", Address: "sms@example.net"}
	text := "balance: 0,70 €\n.\n.\r\nFrom here\n" + strings.Repeat("long ", 300) + "\n"
	for _, subject := range []string{"plain", "a\r\nBcc: eve@example.net", "a\nBcc: eve@example.net", "åäö\r\n\r\nbody", strings.Repeat("ö", 200), ""} {
		l := Letter{To: "ann@example.net", Subject: subject, Text: text}
		raw := string(l.message(from, "id", time.Unix(1e9, 0)))
		m, err := netmail.ReadMessage(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil || got != subject || len(m.Header) != 9 || m.Header.Get("Bcc") != "" || m.Header.Get("Message-Id") != "<id@example.net>" {
			t.Errorf("%q: %q, %v, %v", subject, got, err, m.Header)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("%q, %v", body, err)
		}
		for line := range strings.SplitSeq(raw, "\r\n") {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("%q", line)
			}
		}
	}
}

// An address that is none is not taken, so that nothing stands behind it in a command or in the head.
func TestAddresses(t *testing.T) {
	t.Parallel()
	s := smtptest.New(t, smtptest.Options{})
	r := newRig(t, config.Mail{Server: s.Address, TLS: config.PlainMail})
	for _, to := range []string{"", "ann", "ann@", "@example.net", "a@b\r\nDATA", "a@b\nx", "a b@example.net", "<a@b>", "a@b>", `"a b"@example.net`, "a@b, c@d", "å@example.net", strings.Repeat("a", 65) + "@example.net"} {
		l := letter()
		l.To = to
		if r.Add(l) || r.Test(t.Context(), to) == nil {
			t.Errorf("%q is taken", to)
		}
	}
	if n := len(s.Commands()); n > 0 {
		t.Errorf("%d commands", n)
	}
}

// What the server refuses for now is sent again, whatever went wrong, and counts once. What it refuses for good is not.
func TestMisbehaves(t *testing.T) {
	t.Parallel()
	once := func(verb, answer string) func(string, int) string {
		return func(v string, n int) string {
			if v == verb && n == 0 {
				return answer
			}
			return smtptest.Usual
		}
	}
	for name, c := range map[string]struct {
		answer func(string, int) string
		lost   bool
	}{
		"never answers EHLO":   {once("EHLO", smtptest.Hang), false},
		"never answers RCPT":   {once("RCPT", smtptest.Hang), false},
		"never answers a mail": {once("BODY", smtptest.Hang), false},
		"closes in DATA":       {once("DATA", smtptest.Close), false},
		"closes behind a mail": {once("BODY", smtptest.Close), false},
		"is busy":              {once("MAIL", "421 busy"), false},
		"greylists":            {once("RCPT", "451 later"), false},
		"is full":              {once("BODY", "452 full"), false},
		"refuses EHLO and HELO": {func(v string, n int) string {
			return map[bool]string{true: "554 no"}[strings.HasSuffix(v, "LO") && n == 0]
		}, false},
		"knows nobody":           {once("RCPT", "550 ann@example.net is unknown"), true},
		"refuses the sender":     {once("MAIL", "553 no"), true},
		"refuses the text":       {once("BODY", "554 spam"), true},
		"says what is no answer": {once("RCPT", "what?"), false},
		"never ends a line":      {once("RCPT", strings.Repeat("2", 2<<20)), false},
		"answers twice":          {once("MAIL", "250 good\r\n250 good"), false},
		"refuses to say goodbye": {once("QUIT", smtptest.Hang), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smtptest.New(t, smtptest.Options{Answer: c.answer})
			r := newRig(t, config.Mail{Server: s.Address, TLS: config.PlainMail}, func(s *Sender) { s.limit = 500 * time.Millisecond })
			r.Add(letter())
			testutil.Eventually(t, "it has left the queue", func() bool { f := r.Figures(); return f.Sent+f.Lost == 1 })
			if f := r.Figures(); (f.Lost == 1) != c.lost || f.Waiting != 0 || len(r.of) != 0 {
				t.Errorf("%+v, %v", f, r.of)
			}
			if c.lost == (len(s.Took()) > 0) {
				t.Errorf("%+v", s.Took())
			}
			if log := r.log.String(); strings.Contains(log, "ann@") || strings.Contains(log, "hello") {
				t.Error(log)
			}
		})
	}
}

// A mail goes nowhere without the encryption that the configuration asks for, and no password without any.
func TestNotPlain(t *testing.T) {
	t.Parallel()
	own, roots := secure(t, "127.0.0.1")
	other, _ := secure(t, "127.0.0.1")
	elsewhere, trusted := secure(t, "smtp.example.net")
	for name, c := range map[string]struct {
		server smtptest.Options
		tls    string
		roots  *x509.CertPool
	}{
		"no STARTTLS":               {smtptest.Options{}, config.StartTLS, roots},
		"STARTTLS is refused":       {smtptest.Options{TLS: own, Answer: func(v string, _ int) string { return map[bool]string{true: "454 not now"}[v == "STARTTLS"] }}, config.StartTLS, roots},
		"an unknown authority":      {smtptest.Options{TLS: other}, config.StartTLS, roots},
		"a name that is another's":  {smtptest.Options{TLS: elsewhere}, config.StartTLS, trusted},
		"plain where TLS is wanted": {smtptest.Options{}, config.DirectTLS, roots},
		"TLS of an unknown one":     {smtptest.Options{TLS: other, Direct: true}, config.DirectTLS, roots},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.server.Login, c.server.By = []string{"pmg", "s3cret"}, "PLAIN"
			s := smtptest.New(t, c.server)
			r := newRig(t, config.Mail{Server: s.Address, TLS: c.tls, User: "pmg", Password: "s3cret"}, func(s *Sender) { s.roots, s.limit = c.roots, 500*time.Millisecond })
			r.Add(letter())
			testutil.Eventually(t, "it is given up", func() bool { return r.Figures().Lost == 1 })
			all := strings.Join(s.Commands(), "\n")
			if f := r.Figures(); f.Retried != 2 || len(s.Took()) > 0 || strings.Contains(all, "AUTH") || strings.Contains(all, "MAIL") {
				t.Errorf("%+v, %s", f, all)
			}
		})
	}
	for host, loopback := range map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, "192.0.2.1": false, "smtp.example.net": false, "localhost.example.net": false} {
		if m := (config.Mail{Server: net.JoinHostPort(host, "25")}); m.IsLocal() != loopback || m.Host() != host {
			t.Error(host)
		}
	}
}

// A login that the server refuses is tried again, because its operator may mend it. Neither its words nor the password are in the log.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"PLAIN", "LOGIN", "XOAUTH2"} {
		s := smtptest.New(t, smtptest.Options{Login: []string{"pmg", "right"}, By: by})
		r := newRig(t, config.Mail{Server: s.Address, TLS: config.PlainMail, User: "pmg", Password: "s3cret"})
		r.Add(letter())
		testutil.Eventually(t, "it is given up", func() bool { return r.Figures().Lost == 1 })
		if f := r.Figures(); f.Retried != 2 || len(s.Took()) > 0 {
			t.Errorf("%s: %+v", by, f)
		}
		if log := r.log.String(); strings.Contains(log, "s3cret") || !strings.Contains(log, `"step":"login"`) {
			t.Error(log)
		}
	}
}

// The queue has bounds, of which an account has a tenth. What leaves gives its place back.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := smtptest.New(t, smtptest.Options{})
	r := newSender(config.Mail{Server: s.Address, TLS: config.PlainMail})
	for account := range mostWaiting / mostOf {
		l := letter()
		l.Account = fmt.Sprint("acme", account)
		for i := range mostOf + 1 {
			if r.Add(l) != (i < mostOf) {
				t.Fatalf("letter %d of %s", i, l.Account)
			}
		}
	}
	f := r.Figures()
	if f.Lost != mostWaiting/mostOf {
		t.Errorf("%+v", f)
	}
	r.run(t)
	testutil.Eventually(t, "all are sent", func() bool { return r.Figures().Sent == mostWaiting })
	if !r.Add(letter()) {
		t.Error("no place was given back")
	}
	testutil.Eventually(t, "it is sent", func() bool { return r.Figures().Sent == mostWaiting+1 })
}

// A letter that nobody needs any more is not sent, and counts as nothing; and so is one when mail is not configured any more.
func TestNotNeeded(t *testing.T) {
	t.Parallel()
	s := smtptest.New(t, smtptest.Options{Answer: func(v string, _ int) string { return map[bool]string{true: "451 later"}[v == "RCPT"] }})
	r := newRig(t, config.Mail{Server: s.Address, TLS: config.PlainMail}, func(s *Sender) { s.pauses = make([]time.Duration, 1_000_000) })
	var needed atomic.Bool
	needed.Store(true)
	l := letter()
	l.Still = needed.Load
	r.Add(l)
	testutil.Eventually(t, "it is tried", func() bool { return r.Figures().Retried > 2 })
	needed.Store(false)
	gone := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.of) == 0
	}
	testutil.Eventually(t, "it is gone", gone)
	r.Add(letter())
	testutil.Eventually(t, "the next is tried", func() bool { return !gone() })
	r.node.SetConfig(config.Default())
	testutil.Eventually(t, "it is gone, too", gone)
	if f := r.Figures(); f.Sent+f.Lost != 0 || r.IsOn() || r.Add(letter()) || (*Sender)(nil).IsOn() {
		t.Errorf("%+v", f)
	}
}

// The pauses end within a day.
func TestPauses(t *testing.T) {
	t.Parallel()
	var sum time.Duration
	for _, one := range pauses() {
		sum += one
	}
	if sum > 24*time.Hour || sum < 20*time.Hour {
		t.Error(sum)
	}
}

// A test is sent immediately, and says what the server says.
func TestTest(t *testing.T) {
	t.Parallel()
	s := smtptest.New(t, smtptest.Options{Answer: func(v string, n int) string {
		return map[bool]string{true: "550 no such person"}[v == "RCPT" && n == 1]
	}})
	r := newRig(t, config.Mail{Server: s.Address, TLS: config.PlainMail})
	if err := r.Test(t.Context(), "ann@example.net"); err != nil || len(s.Took()) != 1 {
		t.Errorf("%v, %v", err, s.Took())
	}
	if err := r.Test(t.Context(), "ann@example.net"); err == nil || err.Error() != "cannot send a mail: RCPT: 550 \"no such person\"" {
		t.Error(err)
	}
	s2 := smtptest.New(t, smtptest.Options{Greeting: smtptest.Hang})
	r = newRig(t, config.Mail{Server: s2.Address, TLS: config.PlainMail})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Test(ctx, "ann@example.net"); err == nil || !strings.Contains(err.Error(), "greeting") {
		t.Error(err)
	}
	r.node.SetConfig(config.Default())
	if err := r.Test(t.Context(), "ann@example.net"); err == nil || !strings.Contains(err.Error(), "no section mail") {
		t.Error(err)
	}
}
