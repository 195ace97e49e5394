package mail

import (
	"errors"
	"net/smtp"
	"strings"

	"pmg/config"
)

// logIn logs in to the server if the configuration has a user. A password crosses a network only where it is encrypted.
func logIn(c *smtp.Client, cfg *config.Mail) error {
	if cfg.User == "" {
		return nil
	}
	if _, encrypted := c.TLSConnectionState(); !encrypted && !cfg.IsLocal() {
		return errors.New("the connection is not encrypted, so the password stays here")
	}
	_, mechanisms := c.Extension("AUTH")
	for _, one := range strings.Fields(mechanisms) {
		switch strings.ToUpper(one) {
		case "PLAIN":
			return c.Auth(smtp.PlainAuth("", cfg.User, cfg.Password, cfg.Host()))
		case "LOGIN":
			return c.Auth(&loginAuth{answers: []string{cfg.User, cfg.Password}})
		}
	}
	return errors.New("the server offers neither AUTH PLAIN nor AUTH LOGIN")
}

// loginAuth is the mechanism LOGIN, which some servers offer alone: the server asks for the user, then for the password.
type loginAuth struct{ answers []string }

// Start implements smtp.Auth.
func (*loginAuth) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

// Next implements smtp.Auth.
func (a *loginAuth) Next(_ []byte, more bool) ([]byte, error) {
	switch {
	case !more:
		return nil, nil
	case len(a.answers) == 0:
		return nil, errors.New("the server asks for more than a user and a password")
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return []byte(answer), nil
}
