package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pmg/config"
	"pmg/connector/account"
	"pmg/internal/browser"
	"pmg/internal/oidc"
)

// oidcPath is the path at which a login at an OpenID provider begins. It ends below it, at a path for each account: a
// provider that leads a browser to another one does not get the code of that one.
const oidcPath = Base + "oidc"

// withPassword returns a handler that serves users who have a password here.
func withPassword(serve func(*visit)) func(*visit) {
	return func(v *visit) {
		if v.who.subject != "" {
			why := v.T("You log in with your organisation, which has your password and your second factor.")
			v.wrong(http.StatusConflict, why)
			return
		}
		serve(v)
	}
}

// userOf returns the user of a login to an account, nil if the user may not go on, or if a is nil.
func (l login) userOf(a *account.Account) *config.AccountUser {
	switch {
	case a == nil:
		return nil
	case l.subject != "":
		if a.Config().Logins.OIDC.Proof() != l.proof {
			return nil
		}
		return &config.AccountUser{Name: l.user, Scope: l.scope}
	}
	u := a.User(l.user)
	if u == nil || proofOf(u) != l.proof {
		return nil
	}
	return u
}

// An oidcLogin is a login at the OpenID provider of an account.
type oidcLogin struct{ visit *visit }

// An oidcModel is the model of a page that leads on.
type oidcModel struct{ To, Text string }

// isOn reports whether somebody can log in at a provider.
func (e oidcLogin) isOn() bool {
	return e.visit.options().PortalURL != "" && e.visit.x.HasOIDC()
}

// client returns the client for logins to an account, and the proof of its section; nil if there are none.
func (e oidcLogin) client(name string) (c *oidc.Client, proof string) {
	v := e.visit
	a := v.x.AccountOf(name)
	if a == nil || !a.Config().Logins.OIDC.IsSet() || v.options().PortalURL == "" {
		return nil, ""
	}
	o := &a.Config().Logins.OIDC
	return &oidc.Client{
		Of: name, Section: "accounts[" + name + "].oidc", Issuer: o.Issuer, ID: o.ClientID, Secret: o.ClientSecret,
		Redirect: strings.TrimSuffix(v.options().PortalURL, "/") + oidcPath + "/" + url.PathEscape(name),
		Scopes:   o.Scopes, Claim: o.Claim, ScopeOf: o.ScopeOf,
	}, o.Proof()
}

// browser returns the browser of the request.
func (e oidcLogin) browser() oidc.Browser {
	r := e.visit.x.Request
	return oidc.Browser{Request: r, IsSecure: browser.IsSecure(r), Path: oidcPath + "/"}
}

// begin leads a browser to the provider of the account of the form. An account that has none, or does not exist, is answered as
// a wrong password. A page leads on, because browsers let no form lead to another host.
func (e oidcLogin) begin() {
	v := e.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	name, m := form.Get("account"), loginPage{v}.model(form.Get("next"))
	m.Account = name
	if name == "" || len(name) > mostField {
		m.Wrong = v.T("The account is needed, of 255 characters at most.")
		v.page(http.StatusBadRequest, "login", "Log in", m)
		return
	}
	var c *oidc.Client
	if !v.x.LogInByOIDC(name, func() bool { c, _ = e.client(name); return c != nil }) {
		v.record("login", map[string]string{"account": name, "by": "oidc"}, "refused")
		m.Wrong = v.T(wrongLogin)
		v.page(http.StatusForbidden, "login", "Log in", m)
		return
	}
	to, cookie, err := v.site.portal.logins.Begin(v.x.Request.Context(), c, v.x.Conn.Remote.String(), m.Next)
	if err != nil {
		e.refuse(c, name, err)
		return
	}
	v.site.portal.logins.SetBegun(e.browser(), v.x.Writer.Header(), cookie)
	e.leadOn("Log in", to, v.T("Go on to the login of your organisation"))
}

// leadOn answers with a page that leads on.
func (e oidcLogin) leadOn(title, to, text string) {
	e.visit.x.Writer.Header().Set("Refresh", "0; url="+to)
	e.visit.page(http.StatusOK, "oidc", title, oidcModel{to, text})
}

// end logs in a user who returns from a provider. Browsers send the session's cookie only with requests from these pages, so the
// user goes on from a page, and not by a redirect. The address of this page has the code, so no other site may get it as the
// referrer.
func (e oidcLogin) end() {
	v := e.visit
	logins, query, name := v.site.portal.logins, v.x.Request.URL.Query(), v.x.Request.PathValue("account")
	v.x.Writer.Header().Set("Referrer-Policy", "strict-origin")
	cookie := e.browser().Begun(v.x.Writer.Header())
	c, proof := e.client(name)
	if c == nil || !logins.IsBegun(c, cookie, query) {
		e.refuse(nil, name, oidc.ErrStale)
		return
	}
	var l oidc.Login
	err := errWait
	v.x.LogInByOIDC(name, func() bool {
		l, err = logins.End(v.x.Request.Context(), c, v.x.Conn.Remote.String(), cookie, query)
		return !errors.Is(err, oidc.ErrRefused)
	})
	if err != nil {
		e.refuse(c, name, err)
		return
	}
	who := login{account: name, user: l.Name, proof: proof, subject: l.Subject, scope: l.Scope}
	a := v.x.AccountOf(name)
	if who.userOf(a) == nil || !v.x.Enter(a) { // the configuration has changed meanwhile, or a plugin refuses
		e.refuse(c, name, errGone)
		return
	}
	v.site.sessions.End(v.x.Request)
	v.who, v.scope = who, scopes[l.Scope]
	v.site.sessions.SetCookie(v.x.Writer.Header(), v.x.Request, v.site.sessions.Begin(who))
	v.record("login", map[string]string{"by": "oidc", "issuer": c.Issuer, "subject": l.Subject, "scope": l.Scope}, "ok")
	e.leadOn("Logged in", v.site.portal.pages.OwnPath(l.Next), v.T("Go on"))
}

// Errors of logins at an OpenID provider, besides those of package oidc.
var (
	errWait = errors.New("too many logins of this address wait because others have failed")
	errGone = errors.New("the account may not log in now")
)

// refuse shows the login page with the reason why a login has failed. c is nil if its provider was not asked.
func (e oidcLogin) refuse(c *oidc.Client, name string, err error) {
	v := e.visit
	m, status := loginPage{v}.model(Base), http.StatusForbidden
	m.Account = name
	switch {
	case errors.Is(err, oidc.ErrCrowded):
		v.wait(1)
		m.Wrong, status = v.T("Too many logins are being checked: try again in a moment."), http.StatusServiceUnavailable
	case errors.Is(err, oidc.ErrNoRole):
		m.Wrong = v.T("Your organisation gives you no right here: ask its administrator.")
	case errors.Is(err, oidc.ErrStale):
		m.Wrong = v.T("This login is too old, or was begun in another browser: begin it again.")
	case errors.Is(err, errWait), errors.Is(err, errGone):
		m.Wrong = v.T(wrongLogin)
	default:
		status = http.StatusBadGateway
		m.Wrong = v.T("The login of your organisation was not answered as it should be: try again, or ask its administrator.")
	}
	if c != nil {
		v.record("login", map[string]string{"account": name, "by": "oidc", "issuer": c.Issuer}, "refused")
		if n := v.rooms().Node; n.Repeats.First("oidc of account " + name + ": " + m.Wrong) {
			n.Log.Warn().Str("account", name).Stringer("remote", v.x.Conn.Remote).Err(err).
				Msg("a login at the OpenID provider of an account has failed")
		}
	}
	v.page(status, "login", "Log in", m)
}
