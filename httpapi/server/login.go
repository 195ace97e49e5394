package server

import (
	"time"

	"pmg/connector/account"
	"pmg/gateway/login"
	"pmg/protocols/httpsms"
)

// A checkedLogin is a name and a password that an account had when they were checked. On the same connection they count for
// login.Stays, unless the accounts are loaded again: each request has them, and checking them takes longer than
// reading the request.
type checkedLogin struct {
	accounts *account.Table
	account  *account.Account
	until    time.Time
	known    httpsms.KnownLogin
}

// newCheckedLogin returns the login to an account of a table.
func newCheckedLogin(t *account.Table, a *account.Account, name, password string) *checkedLogin {
	return &checkedLogin{
		accounts: t, account: a, until: time.Now().Add(login.Stays), known: httpsms.KnowLogin(name, password),
	}
}

// accountOf returns the account of a name and a password, if they are the login's; otherwise nil. The login may be nil.
func (l *checkedLogin) accountOf(t *account.Table, name, password string) *account.Account {
	if l == nil || l.accounts != t || !l.known.Is(name, password) || !time.Now().Before(l.until) {
		return nil
	}
	return l.account
}
