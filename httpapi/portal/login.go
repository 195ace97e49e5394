package portal

import (
	"net/http"

	"pmg/config"
)

// A login is the data of a user in a session.
type login struct {
	account, user string
	proof         string // hash of the password, and secret of the second factor: a session ends when one of them changes
}

// proofOf returns the proof of a user's logins.
func proofOf(u *config.AccountUser) string { return u.Password + "\x00" + u.TOTPSecret }

// owner returns the name of the user among those of all accounts.
func (l login) owner() string { return l.account + "\x00" + l.user }

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
}

// showLogin shows the form.
func (v *visit) showLogin() {
	next := v.site.portal.pages.OwnPath(v.x.Request.URL.Query().Get("next"))
	v.page(http.StatusOK, "login", "Log in", loginModel{Next: next, CanReset: resetPages{v}.isOn()})
}

// logIn begins a session, or asks for a code. All errors get the same answer after the same time.
func (v *visit) logIn() {
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	account, user, password := form.Get("account"), form.Get("name"), form.Get("password")
	m := loginModel{Account: account, User: user, Next: v.site.portal.pages.OwnPath(form.Get("next"))}
	m.CanReset = resetPages{v}.isOn()
	if account == "" || user == "" || password == "" || max(len(account), len(user), len(password)) > mostField {
		m.Wrong = v.T("Account, name and password are needed, of 255 characters at most.")
		v.page(http.StatusBadRequest, "login", "Log in", m)
		return
	}
	isRight := v.x.LogInUser(account, user, password)
	_, u := v.x.User(account, user)
	if !isRight || u == nil {
		v.record("login", map[string]string{"account": account, "name": user}, "refused")
		m.Wrong = v.T("Account, name or password is wrong, or there were too many attempts to log in.")
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
func (v *visit) logOut() {
	v.site.sessions.End(v.x.Request)
	v.site.sessions.SetCookie(v.x.Writer.Header(), v.x.Request, "")
	v.redirect(Base + "login")
}
