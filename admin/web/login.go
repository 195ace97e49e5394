package web

import (
	"math"
	"net/http"
	"strconv"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/internal/browser"
)

// A login is the model of the login page.
type login struct {
	browser.Frame
	Next  string // the path that the login leads back to
	Wrong string
	Users bool // there are local users
	Other bool // there is an OpenID provider
}

func (s *site) loginPage(w http.ResponseWriter, r *http.Request, code int, wrong string) {
	c := &s.server.Gateway().Node.Config().Admin
	s.write(w, code, "login", &login{
		Frame: s.Frame(&browser.Page{Title: "Log in"}, nil), Next: s.OwnPath(r.FormValue("next")), Wrong: wrong,
		Users: len(c.Users) > 0, Other: c.OIDC.IsSet(),
	})
}

// login shows the form.
func (s *site) login(w http.ResponseWriter, r *http.Request) { s.loginPage(w, r, http.StatusOK, "") }

// mostLogin is the maximum size of a login form, in octets.
const mostLogin = 8 << 10

// begin logs a user in.
func (s *site) begin(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "login")
	r.Body = http.MaxBytesReader(w, r.Body, mostLogin)
	sessions := s.server.Guard().Sessions
	name := r.PostFormValue("name")
	cookie, err := sessions.Begin(r.Context(), r.RemoteAddr, name, r.PostFormValue("password"))
	if err != nil {
		w.Header().Set("Retry-After", "1")
		s.loginPage(w, r, http.StatusServiceUnavailable, "Too many logins are being checked: try again.")
		return
	}
	if cookie == "" {
		if wait := sessions.Wait(r.RemoteAddr); wait > 0 {
			seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
			w.Header().Set("Retry-After", seconds)
			s.loginPage(
				w, r, http.StatusTooManyRequests,
				"Too many logins have failed from this address: try again in "+seconds+" s.",
			)
			return
		}
		s.loginPage(w, r, http.StatusUnauthorized, "The name or the password is wrong.")
		return
	}
	sessions.End(r) // ends an earlier session of this browser
	access.LoggedIn(r, name)
	sessions.SetCookie(w, r, cookie)
	http.Redirect(w, r, s.OwnPath(r.PostFormValue("next")), http.StatusSeeOther)
}

// logout ends the session of a browser.
func (s *site) logout(w http.ResponseWriter, r *http.Request) {
	access.Named(r, "logout")
	sessions := s.server.Guard().Sessions
	sessions.End(r)
	sessions.SetCookie(w, r, "")
	http.Redirect(w, r, admin.PagesBase+"login", http.StatusSeeOther)
}
