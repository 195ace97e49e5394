// Package smtptest is a server of SMTP for tests: it keeps the mails that it takes, and misbehaves where a test wants that.
//
// # Start reading
//
// New, then Server.Took.
package smtptest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What Answer may return in place of an answer of several digits.
const (
	Usual = ""      // what a server answers that takes every mail
	Hang  = "hang"  // nothing, until the client ends the connection
	Close = "close" // the end of the connection
)

// Options say what a server is like. The zero value takes all mails, plain and without a login.
type Options struct {
	TLS      *tls.Config // with it the server offers STARTTLS
	Direct   bool        // connections begin with TLS
	Login    []string    // user and password; the server offers AUTH with the mechanism
	By       string      // mechanism of Login: PLAIN or LOGIN
	Offers   []string    // further extensions
	Greeting string      // what the server says first, as Answer returns it

	// Answer returns the answer to the n-th command with a verb over all connections, from 0; "BODY" is the end of a mail.
	Answer func(verb string, n int) string
}

// A Mail is a mail that the server has taken.
type Mail struct {
	From, To  string
	Text      string // head and body as they came
	User      string // the user who has logged in
	Encrypted bool
}

// A Server is a server of SMTP on this machine.
type Server struct {
	Address string

	options Options
	open    sync.WaitGroup

	mu       sync.Mutex
	took     []Mail
	commands []string
	counts   map[string]int
	conns    map[net.Conn]bool
}

// New starts a server that ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: l.Addr().String(), options: o, counts: map[string]int{}, conns: map[net.Conn]bool{}}
	s.open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
			s.open.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.open.Wait()
	})
	return s
}

// Took returns the mails that the server has taken.
func (s *Server) Took() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.took)
}

// Commands returns the commands that came, over all connections.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// dialogue is a connection.
type dialogue struct {
	*Server
	conn      net.Conn
	text      *textproto.Conn
	encrypted bool
	user      string
	mail      Mail
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	d := &dialogue{Server: s, conn: c}
	if s.options.Direct {
		d.conn, d.encrypted = tls.Server(c, s.options.TLS), true
	}
	d.text = textproto.NewConn(d.conn)
	if !d.say(s.options.Greeting, "220 smtptest") {
		return
	}
	for {
		line, err := d.text.ReadLine()
		if err != nil || !d.command(line) {
			return
		}
	}
}

// say answers, and reports whether the connection goes on.
func (d *dialogue) say(instead, usual string) bool {
	switch instead {
	case Usual:
		instead = usual
	case Hang:
		_, _ = io.Copy(io.Discard, d.conn)
		return false
	case Close:
		return false
	}
	return d.text.PrintfLine("%s", instead) == nil
}

// instead returns what Answer returns for a command.
func (d *dialogue) instead(verb, line string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.counts[verb]
	d.counts[verb]++
	d.commands = append(d.commands, line)
	if d.options.Answer == nil {
		return Usual
	}
	return d.options.Answer(verb, n)
}

// command carries out a command, and reports whether the connection goes on.
func (d *dialogue) command(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	instead := d.instead(verb, line)
	switch verb {
	case "EHLO":
		return d.say(instead, strings.Join(d.extensions(), "\r\n"))
	case "STARTTLS":
		if !d.say(instead, "220 go on") || instead != Usual {
			return instead != Usual
		}
		d.conn, d.encrypted = tls.Server(d.conn, d.options.TLS), true
		d.text = textproto.NewConn(d.conn)
		return true
	case "AUTH":
		if instead != Usual {
			return d.say(instead, "")
		}
		return d.logIn(rest)
	case "MAIL":
		d.mail = Mail{From: between(rest), User: d.user, Encrypted: d.encrypted}
	case "RCPT":
		d.mail.To = between(rest)
	case "DATA":
		return d.data(instead)
	case "QUIT":
		d.say(instead, "221 bye")
		return false
	}
	return d.say(instead, "250 good")
}

func (d *dialogue) extensions() []string {
	all := append([]string{"smtptest"}, d.options.Offers...)
	if d.options.TLS != nil && !d.encrypted {
		all = append(all, "STARTTLS")
	}
	if d.options.Login != nil {
		all = append(all, "AUTH "+d.options.By)
	}
	for i := range all {
		mark := "-"
		if i == len(all)-1 {
			mark = " "
		}
		all[i] = "250" + mark + all[i]
	}
	return all
}

// data takes a mail.
func (d *dialogue) data(instead string) bool {
	if !d.say(instead, "354 go on") || instead != Usual {
		return instead != Close && instead != Hang
	}
	text, err := io.ReadAll(d.text.DotReader())
	if err != nil {
		return false
	}
	d.mail.Text = string(text)
	if instead = d.instead("BODY", "BODY"); instead == Usual || strings.HasPrefix(instead, "2") {
		d.mu.Lock()
		d.took = append(d.took, d.mail)
		d.mu.Unlock()
	}
	return d.say(instead, "250 taken")
}

// logIn checks a login with PLAIN or LOGIN.
func (d *dialogue) logIn(rest string) bool {
	given := []string{}
	if _, first, ok := strings.Cut(rest, " "); ok { // PLAIN
		text, _ := base64.StdEncoding.DecodeString(first)
		given = strings.Split(string(text), "\x00")[1:]
	} else {
		for _, ask := range []string{"VXNlcm5hbWU6", "UGFzc3dvcmQ6"} {
			if d.text.PrintfLine("334 %s", ask) != nil {
				return false
			}
			line, err := d.text.ReadLine()
			if err != nil {
				return false
			}
			text, _ := base64.StdEncoding.DecodeString(line)
			given = append(given, string(text))
		}
	}
	if !slices.Equal(given, d.options.Login) {
		return d.say(Usual, "535 wrong")
	}
	d.user = given[0]
	return d.say(Usual, "235 good")
}

// between returns what stands in the brackets of a command.
func between(text string) string {
	_, text, _ = strings.Cut(text, "<")
	text, _, _ = strings.Cut(text, ">")
	return text
}

// Header returns a field of the head of a mail.
func (m *Mail) Header(name string) string {
	h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(m.Text))).ReadMIMEHeader()
	if err != nil {
		return fmt.Sprint("no head: ", err)
	}
	return h.Get(name)
}
