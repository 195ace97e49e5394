package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"pmg/config"
	"pmg/config/managed/editor"
	"pmg/gateway/mail"
	"pmg/internal/token"
)

// Limits of links for new passwords.
const (
	linkTime   = 30 * time.Minute
	mostLinks  = 3      // links that a user gets in a period
	mostIssued = 10_000 // links that are valid
)

// links are the links for new passwords that are valid. They are forgotten when the gateway stops.
type links struct {
	asked changes          // by user
	now   func() time.Time // set before the first request

	mu sync.Mutex
	of map[string]link // by hash of the token
}

// A link is a permission to choose a new password, once. It ends when the password, the second factor or the address changes.
type link struct {
	login
	mail  string
	until time.Time
}

// issue returns the token of a new link, "" if there are too many.
func (c *links) issue(l link) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if len(c.of) >= mostIssued {
		for hash, one := range c.of {
			if !now.Before(one.until) {
				delete(c.of, hash)
			}
		}
	}
	if len(c.of) >= mostIssued {
		return ""
	}
	text := token.New()
	l.until = now.Add(linkTime)
	c.of[token.Hash(text)] = l
	return text
}

// find returns the link of a token, if its time has not passed.
func (c *links) find(hash string) (link, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.of[hash]
	return l, ok && c.now().Before(l.until)
}

// take removes the link of a token, and reports whether there was one.
func (c *links) take(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.of[hash]
	delete(c.of, hash)
	return ok
}

// putBack makes a link valid again that was taken and had no effect.
func (c *links) putBack(hash string, l link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[hash] = l
}

// resetPath is the path of the page to which a link leads.
const resetPath = Base + "reset"

// linkMinutes is how long a link is valid, as texts have it.
const linkMinutes = int(linkTime / time.Minute)

// A forgotModel is the model of the page that asks for a link.
type forgotModel struct {
	Account, User string
	Minutes       int // how long the link is valid that may have been sent; 0: none was asked for
	Wrong         string
}

// A resetModel is the model of the page to which a link leads.
type resetModel struct {
	Token, User string
	Wrong       string
}

// resetPages are the pages on which a user who cannot log in gets a new password.
type resetPages struct{ visit *visit }

// isOn reports whether the gateway can send links.
func (s resetPages) isOn() bool {
	v := s.visit
	return v.rooms().Mail.IsOn() && v.rooms().Edit != nil && v.options().PortalURL != ""
}

// withLinks returns a handler of the pages of links, which are missing while no link can be sent.
func (s *Site) withLinks(serve func(resetPages)) http.HandlerFunc {
	return s.open(func(v *visit) {
		if p := (resetPages{v}); p.isOn() {
			serve(p)
		} else {
			v.missing()
		}
	})
}

func (s resetPages) showForgot() {
	s.visit.page(http.StatusOK, "forgot", "New password", forgotModel{})
}

// ask sends a link to the user of the form. The answer and its time are the same for users that do not exist.
func (s resetPages) ask() {
	v := s.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	m := forgotModel{Account: form.Get("account"), User: form.Get("name")}
	if m.Account == "" || m.User == "" || max(len(m.Account), len(m.User)) > mostField {
		m.Wrong = v.T("Account and name are needed, of 255 characters at most.")
		v.page(http.StatusBadRequest, "forgot", "New password", m)
		return
	}
	v.printer() // before another goroutine asks for it
	v.x.ResetUser(m.Account, m.User, func() {
		v.rooms().Go(func(context.Context) { s.send(m.Account, m.User) }) // the answer does not wait for what depends on the user
	})
	v.page(http.StatusOK, "forgot", "New password", forgotModel{Minutes: linkMinutes})
}

// send sends a link to a user who has an address, and whose password the pages can change. It may outlast its request.
func (s resetPages) send(account, name string) {
	v := s.visit
	p := v.site.portal
	a, _ := v.x.StillAccount(account)
	if a == nil || a.User(name) == nil || a.User(name).Mail == "" || !v.isStored(account) {
		return
	}
	u := a.User(name)
	l := link{login: login{account: account, user: u.Name, proof: proofOf(u)}, mail: u.Mail}
	text := ""
	if p.links.asked.take(l.owner()) {
		text = p.links.issue(l)
	}
	result, hash := "ok", token.Hash(text)
	switch {
	case text == "" && !v.rooms().Node.Repeats.First("links of "+l.owner()):
		return // the audit log already has a line about this user
	case text == "":
		result = "too many"
	case !v.rooms().Mail.Add(s.letter(l, text, func() bool { _, ok := p.links.find(hash); return ok })):
		p.links.take(hash)
		result = "no room"
	}
	v.record("reset/link", map[string]string{"account": account, "name": name}, result)
}

// letter returns the mail with a link. Its address comes from the configuration, and never from the request.
func (s resetPages) letter(l link, text string, still func() bool) mail.Letter {
	to := strings.TrimSuffix(s.visit.options().PortalURL, "/") + resetPath + "?" + url.Values{"token": {text}}.Encode()
	v := s.visit
	parts := []string{
		v.T("Somebody has asked for a new password of user %s of account %s. With this link you choose it:", l.user, l.account),
		to, v.T("The link works once, within %s minutes.", linkMinutes) + " " +
			v.T("If you have not asked for it, do nothing: your password stays."),
	}
	return mail.Letter{
		Kind: "new password", Account: l.account, To: l.mail, Subject: v.T("%s: new password", brand(s).name()),
		Text: strings.Join(parts, "\n\n") + "\n", Still: still,
	}
}

// find returns the link of a token, and its user, if the user may still follow it.
func (s resetPages) find(hash string) (l link, u *config.AccountUser, ok bool) {
	v := s.visit
	if l, ok = v.site.portal.links.find(hash); !ok {
		return l, nil, false
	}
	_, u = v.x.User(l.account, l.user)
	return l, u, u != nil && proofOf(u) == l.proof && u.Mail == l.mail && v.isStored(l.account)
}

// showReset shows the form to which a link leads. The link stays valid, because mail filters follow the links of mails.
func (s resetPages) showReset() {
	text := s.visit.x.Request.URL.Query().Get("token")
	l, _, ok := s.find(token.Hash(text))
	if !ok {
		s.over()
		return
	}
	s.answer(http.StatusOK, resetModel{Token: text, User: l.user})
}

// answer answers with the page of a link. The address of this page has the token, so no other site may get it as the referrer.
func (s resetPages) answer(status int, m resetModel) {
	s.visit.x.Writer.Header().Set("Referrer-Policy", "strict-origin")
	s.visit.page(status, "reset", "New password", m)
}

// over answers a request with a link that is unknown, used or too old.
func (s resetPages) over() {
	s.answer(http.StatusNotFound, resetModel{
		Wrong: s.visit.T("This link is not valid any more. A link works once, within %s minutes.", linkMinutes),
	})
}

// set changes the password of the user of a link to that of the form. It logs nobody in: the second factor, if there is one, is
// still asked.
func (s resetPages) set() {
	v := s.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	text, password := form.Get("token"), form.Get("password")
	hash := token.Hash(text)
	l, u, ok := s.find(hash)
	if !ok {
		s.over()
		return
	}
	m := resetModel{Token: text, User: l.user, Wrong: wrongPassword(password).In(v.printer())}
	if m.Wrong == "" && password != form.Get("again") {
		m.Wrong = v.T("The two new passwords differ.")
	}
	if m.Wrong != "" {
		s.answer(http.StatusUnprocessableEntity, m)
		return
	}
	if !v.site.portal.links.take(hash) { // another request has just used it
		s.over()
		return
	}
	v.who = l.login
	err := v.edit("reset", l.user, editor.ReplacingPassword(l.account, l.user, u.Password, password))
	v.who = login{} // nobody has logged in
	if err != nil {
		v.site.portal.links.putBack(hash, l)
		m.Wrong = v.T("The password cannot be changed now. Try again in a moment.")
		s.answer(http.StatusServiceUnavailable, m)
		return
	}
	next := loginPage{v}.model(Base)
	next.Account, next.User, next.IsReset = l.account, l.user, true
	v.page(http.StatusOK, "login", "Log in", next)
}
