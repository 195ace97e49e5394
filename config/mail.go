package config

import (
	"fmt"
	"net"
	"net/mail"
	"regexp"
	"slices"
)

// Mail is the SMTP server by which the gateway sends mail.
type Mail struct {
	Server   string `yaml:"server" live:"yes" doc:"host:port of the server that takes the mail, such as smtp.example.net:587; no mail is sent when empty."`
	From     string `yaml:"from" live:"yes" doc:"The sender, such as sms@example.net or Example SMS <sms@example.net>."`
	User     string `yaml:"user" live:"yes" doc:"The name that the gateway logs in with there; it does not log in when empty."`
	Password string `yaml:"password" secret:"yes" live:"yes" doc:"Its password."`
	TLS      string `yaml:"tls" default:"starttls" enum:"starttls|tls|none" live:"yes" doc:"How the connection is encrypted: starttls after a greeting (port 587; nothing is sent if the server does not offer it), tls from the beginning (465), or none, without a password except on this machine. The certificate must be valid for the host (SSL_CERT_FILE names further authorities)."`
}

// The values of tls in the section mail.
const (
	StartTLS  = "starttls"
	DirectTLS = "tls"
	PlainMail = "none"
)

// MaxMails is how many addresses an account may have for mail.
const MaxMails = 10

// Host returns the host of the server.
func (m *Mail) Host() string {
	host, _, _ := net.SplitHostPort(m.Server) // was checked
	return host
}

// IsLocal reports whether the server is on this machine, so that no network has what is sent to it.
func (m *Mail) IsLocal() bool { return isLoopbackHost(m.Host()) }

// IsSet reports whether mail is sent.
func (m *Mail) IsSet() bool { return m.Server != "" }

// Sender returns the sender of mail. Check has read From.
func (m *Mail) Sender() *mail.Address {
	a, err := mail.ParseAddress(m.From)
	if err != nil {
		return &mail.Address{}
	}
	return a
}

// maxMailAddress is the longest address, in octets (RFC 5321 §4.5.3.1.3, without the brackets).
const maxMailAddress = 254

var mailForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$")

// IsMailAddress reports whether text is an address for mail, without a name. It has neither quotes, blanks nor line ends, so
// that it can be written into a header and a command.
func IsMailAddress(text string) bool {
	return len(text) <= maxMailAddress && mailForm.MatchString(text)
}

// checkMail checks the section mail, and the accounts that need it.
func checkMail(d *decoder, c *Config) {
	for i := range c.Accounts {
		checkMailOf(d, c, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i))
	}
	m := &c.Mail
	if !m.IsSet() {
		if m.From+m.User != "" {
			d.problem("mail.server", "must be given: host:port of the server that takes the mail")
		}
		return
	}
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil || host == "" || port == "" {
		d.problem("mail.server", "must be host:port, such as smtp.example.net:587, not %q", m.Server)
	}
	if a, err := mail.ParseAddress(m.From); err != nil || !IsMailAddress(a.Address) {
		d.problem("mail.from", "must be an address such as sms@example.net, not %q", m.From)
	}
	switch {
	case m.User == "" && m.Password != "":
		d.problem("mail.user", "must be given with password")
	case m.User != "" && m.Password == "":
		d.problem("mail.password", "must be given with user")
	case m.Password != "" && m.TLS == PlainMail && !m.IsLocal():
		d.problem("mail.tls", "must not be none with a password: whoever is in between would read it; use starttls or tls")
	}
}

// checkMailOf checks the addresses of an account and of its users.
func checkMailOf(d *decoder, c *Config, a *Account, path string) {
	all := a.Policies.Mail
	if len(all) > MaxMails {
		d.problem(path+".mail", "must have %d entries at most, not %d", MaxMails, len(all))
	}
	for i, one := range all {
		if !IsMailAddress(one) {
			d.problem(fmt.Sprintf("%s.mail[%d]", path, i), "must be an address such as ann@example.net, not %q", one)
		}
	}
	for i, u := range a.Logins.Users {
		if u.Mail != "" && !IsMailAddress(u.Mail) {
			d.problem(fmt.Sprintf("%s.users[%d].mail", path, i), "must be an address such as ann@example.net, not %q", u.Mail)
		}
	}
	switch {
	case c.Mail.IsSet():
		if len(all) > 0 && a.Policies.Balance.Low == "" {
			d.warn(path+".mail", "gets no mail, because balance.low is not given")
		}
	case len(all) > 0, slices.ContainsFunc(a.Logins.Users, func(u AccountUser) bool { return u.Mail != "" }):
		d.warn(path+".mail", "gets no mail: there is no section mail with a server")
	}
}
