package portal

import (
	"net/http"

	"pmg/config"
)

// A login is the data of a user in a session.
type login struct {
	account, user string
	proof         string // hash of the password, and secret of the second factor: a session ends when one of them changes

	// Of a user of the account's OpenID provider, whose proof is that of the account's section: the id there, and the scope. ""
	// for users with a password here.
	subject, scope string
}

// proofOf returns the proof of a user's logins.
func proofOf(u *config.AccountUser) string { return u.Password + "\x00" + u.TOTPSecret }

// owner returns the name of the user among those of all accounts.
func (l login) owner() string { return l.account + "\x00" + l.user + "\x00" + l.subject }

// Limits of a login.
const (
	mostLogin = 8 << 10 // octets of the login form
	mostField = 255     // octets of a field of the login form
)

// A loginModel is the model of the login page.
type loginModel struct {
	Account, User string
	Next, Wrong   string
	IsReset       bool // the user has chosen a new password by a link
	CanReset      bool // a link can be sent
	HasOIDC       bool // an account has an OpenID provider
}

// A loginPage is the page by which users log in.
type loginPage struct{ visit *visit }

// model returns the model of the page.
func (l loginPage) model(next string) loginModel {
	v := l.visit
	return loginModel{
		Next: v.site.portal.pages.OwnPath(next), CanReset: resetPages{v}.isOn(), HasOIDC: oidcLogin{v}.isOn(),
	}
}

// wrongLogin is the answer to a login that is refused, whatever is wrong with it.
const wrongLogin = "Account, name or password is wrong, or there were too many attempts to log in."

// show shows the form.
func (l loginPage) show() {
	v := l.visit
	v.page(http.StatusOK, "login", "Log in", l.model(v.x.Request.URL.Query().Get("next")))
}

// logIn begins a session, or asks for a code. All errors get the same answer after the same time.
func (l loginPage) logIn() {
	v := l.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	account, user, password := form.Get("account"), form.Get("name"), form.Get("password")
	m := l.model(form.Get("next"))
	m.Account, m.User = account, user
	if account == "" || user == "" || password == "" || max(len(account), len(user), len(password)) > mostField {
		m.Wrong = v.T("Account, name and password are needed, of 255 characters at most.")
		v.page(http.StatusBadRequest, "login", "Log in", m)
		return
	}
	isRight := v.x.LogInUser(account, user, password)
	_, u := v.x.User(account, user)
	if !isRight || u == nil {
		v.record("login", map[string]string{"account": account, "name": user}, "refused")
		m.Wrong = v.T(wrongLogin)
		v.page(http.StatusForbidden, "login", "Log in", m)
		return
	}
	v.site.sessions.End(v.x.Request)
	v.who = login{account: account, user: u.Name}
	if u.TOTPSecret == "" {
		v.begin(u)
		v.record("login", nil, "ok")
		v.redirect(m.Next)
		return
	}
	secondStep{v}.begin(u, m.Next)
}

// begin begins a session of the user.
func (v *visit) begin(u *config.AccountUser) {
	v.who.proof = proofOf(u)
	v.site.sessions.SetCookie(v.x.Writer.Header(), v.x.Request, v.site.sessions.Begin(v.who))
}

// logOut ends the session of the request.
func (l loginPage) logOut() {
	v := l.visit
	v.site.sessions.End(v.x.Request)
	v.site.sessions.SetCookie(v.x.Writer.Header(), v.x.Request, "")
	v.redirect(Base + "login")
}
