package web

import (
	"errors"
	"net/http"
	"strings"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/internal/browser"
	"pmg/internal/oidc"
)

// loginsPath is the path to which browsers send the cookies of logins that they have begun.
const loginsPath = admin.PagesBase + "login/"

// callbackPath is the path to which the OpenID provider redirects browsers.
const callbackPath = loginsPath + "callback"

// client returns the client for logins of operators, nil if the configuration has none.
func (s *site) client() *oidc.Client {
	c := &s.server.Gateway().Node.Config().Admin.OIDC
	if !c.IsSet() {
		return nil
	}
	return &oidc.Client{
		Section: "admin.oidc", Issuer: c.Issuer, ID: c.ClientID, Secret: c.ClientSecret, Scopes: c.Scopes, Claim: c.Claim,
		Redirect: strings.TrimSuffix(c.Address, "/") + callbackPath, ScopeOf: c.ScopeOf,
	}
}

// errNoOIDC means that there is no OpenID provider for operators.
var errNoOIDC = errors.New("the configuration has no admin.oidc")

func (s *site) browser(r *http.Request) oidc.Browser {
	return oidc.Browser{Request: r, IsSecure: s.server.Guard().Sessions.IsSecure(r), Path: loginsPath}
}

// beginOther sends a browser to the OpenID provider.
func (s *site) beginOther(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "login")
	c := s.client()
	if c == nil {
		s.refuseOther(w, r, http.StatusBadGateway, errNoOIDC)
		return
	}
	to, cookie, err := s.logins.Begin(r.Context(), c, r.RemoteAddr, s.OwnPath(r.FormValue("next")))
	if err != nil {
		s.refuseOther(w, r, http.StatusBadGateway, err)
		return
	}
	s.logins.SetBegun(s.browser(r), w.Header(), cookie)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// endOther logs in a user who returns from the OpenID provider. Browsers send the session's cookie only with requests from
// these pages, so the user continues from a page, and not by a redirect.
func (s *site) endOther(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "login")
	access.MarkAudited(r)
	proof := s.server.Gateway().Node.Config().Admin.OIDC.Proof()
	cookie, c := s.browser(r).Begun(w.Header()), s.client()
	if c == nil {
		s.refuseOther(w, r, http.StatusUnauthorized, errNoOIDC)
		return
	}
	l, err := s.logins.End(r.Context(), c, r.RemoteAddr, cookie, r.URL.Query())
	if err != nil {
		s.refuseOther(w, r, http.StatusUnauthorized, err)
		return
	}
	sessions := s.server.Guard().Sessions
	sessions.End(r)
	access.LoggedIn(r, l.Name)
	sessions.SetCookie(w, r, sessions.BeginOther(l.Name, l.Scope, proof))
	v := &login{Frame: s.Frame(&browser.Page{Title: "Logged in"}, nil), Next: s.OwnPath(l.Next)}
	w.Header().Set("Refresh", "0; url="+v.Next)
	s.write(w, http.StatusOK, "loggedin", v)
}

// refuseOther shows the login page with the reason why the login at the OpenID provider has failed.
func (s *site) refuseOther(w http.ResponseWriter, r *http.Request, code int, err error) {
	switch {
	case errors.Is(err, oidc.ErrCrowded):
		w.Header().Set("Retry-After", "1")
		code = http.StatusServiceUnavailable
	case errors.Is(err, oidc.ErrNoRole):
		code = http.StatusForbidden
	}
	s.server.Gateway().Node.Log.Warn().Str("from", r.RemoteAddr).Err(err).
		Msg("a login at the OpenID provider has failed")
	s.loginPage(w, r, code, err.Error())
}
