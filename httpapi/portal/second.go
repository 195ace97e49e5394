package portal

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/config/managed/editor"
	"pmg/internal/token"
)

// Limits of the second step of a login.
const (
	mostTries = 5 // codes that a login may give
	stepTime  = 5 * time.Minute
)

// wrongCode is the answer to every code that does not count.
const wrongCode = "The code is wrong or was used before, or there were too many attempts."

// A secondStep is the second step of a login, which asks for a code.
type secondStep struct{ visit *visit }

// A firstStep is a login whose password was right, and which needs a code.
type firstStep struct {
	login
	next  string
	until time.Time
	tries *atomic.Int32
}

// begin asks for the code of the user, whose password was right.
func (s secondStep) begin(u *config.AccountUser, next string) {
	v := s.visit
	v.who.proof = proofOf(u)
	cookie := v.site.firstSteps.Begin(firstStep{v.who, next, v.site.portal.codes.now().Add(stepTime), &atomic.Int32{}})
	v.site.firstSteps.SetCookie(v.x.Writer.Header(), v.x.Request, cookie)
	v.redirect(Base + "code")
}

// firstStep returns the login that needs a code. If there is none it leads back to the password.
func (s secondStep) firstStep() (h firstStep, u *config.AccountUser, ok bool) {
	v := s.visit
	h, ok = v.site.firstSteps.Find(v.x.Request, func(h firstStep) bool {
		_, u = v.x.User(h.account, h.user)
		return u != nil && proofOf(u) == h.proof && v.site.portal.codes.now().Before(h.until) && h.tries.Load() < mostTries
	})
	if !ok {
		v.redirect(Base + "login")
	}
	return h, u, ok
}

// A codeModel is the model of the page that asks for a code.
type codeModel struct{ Wrong string }

// show shows the second form of a login.
func (s secondStep) show() {
	if _, _, ok := s.firstStep(); ok {
		s.visit.page(http.StatusOK, "code", "Log in", codeModel{})
	}
}

// give begins a session if the code is right.
func (s secondStep) give() {
	v := s.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	h, u, ok := s.firstStep()
	if !ok {
		return
	}
	if h.tries.Add(1) > mostTries {
		v.redirect(Base + "login")
		return
	}
	v.who = h.login
	if !s.proves(written(form.Get("code"))) {
		v.record("login", nil, "code refused")
		v.who = login{} // nobody has logged in
		v.page(http.StatusForbidden, "code", "Log in", codeModel{v.T(wrongCode)})
		return
	}
	v.site.firstSteps.End(v.x.Request)
	v.site.firstSteps.SetCookie(v.x.Writer.Header(), v.x.Request, "")
	v.begin(u)
	v.record("login", nil, "ok")
	v.redirect(h.next)
}

// proves reports whether the user gives a code of the second factor that counts, or a recovery code, which is used up then.
func (s secondStep) proves(code string) bool {
	v := s.visit
	return v.x.ProveUser(v.who.account, v.who.user, func() bool {
		_, u := v.x.User(v.who.account, v.who.user)
		if u == nil || u.TOTPSecret == "" {
			return false
		}
		hash := token.Hash(code)
		if !isRecovery(u, hash) {
			return v.site.portal.codes.use(v.who.owner(), u.TOTPSecret, code)
		}
		return v.isManaged() &&
			v.edit("recovery", v.who.user, editor.UsingCode(v.who.account, v.who.user, hash)) == nil
	})
}

// isRecovery reports whether a user has a recovery code with a hash.
func isRecovery(u *config.AccountUser, hash string) bool {
	return strings.Contains(u.RecoveryCodes, hash)
}
