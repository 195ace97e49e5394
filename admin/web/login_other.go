package web

import (
	"errors"
	"net/http"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/oidc"
	"pmg/internal/browser"
)

// loginsPath is the path to which browsers send the cookies of logins that they have begun.
const loginsPath = admin.PagesBase + "login/"

// setBegun sets the cookie of a begun login, or removes it if it has no value. The browser comes back from
// another site, so the cookie must be sent with requests from other sites.
func (s *site) setBegun(w http.ResponseWriter, r *http.Request, c oidc.Cookie) {
	age := int(oidc.LoginTime.Seconds())
	if c.Value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: c.Name, Value: c.Value, Path: loginsPath, MaxAge: age, HttpOnly: true,
		Secure: s.server.Guard().Sessions.IsSecure(r), SameSite: http.SameSiteLaxMode,
	})
}

// beginOther sends a browser to the OpenID provider.
func (s *site) beginOther(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "login")
	to, cookie, err := s.provider.Begin(r.Context(), r.RemoteAddr, s.OwnPath(r.FormValue("next")))
	if err != nil {
		s.refuseOther(w, r, http.StatusBadGateway, err)
		return
	}
	for _, name := range s.provider.Old(r) {
		s.setBegun(w, r, oidc.Cookie{Name: name})
	}
	s.setBegun(w, r, cookie)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// endOther logs in a user who returns from the OpenID provider. Browsers send the session's cookie only with requests from
// these pages, so the user continues from a page, and not by a redirect.
func (s *site) endOther(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "login")
	access.MarkAudited(r)
	proof := s.server.Gateway().Node.Config().Admin.OIDC.Proof()
	cookie := oidc.CookieOf(r)
	if cookie.Name != "" {
		s.setBegun(w, r, oidc.Cookie{Name: cookie.Name})
	}
	l, err := s.provider.End(r.Context(), r.RemoteAddr, cookie, r.URL.Query())
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
