package portal

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
	"pmg/internal/texts"
	"pmg/protocols/httpsms/own"
)

// leastPassword is the minimum length of a password that a page sets.
const leastPassword = 8

// passwordPath is the path of the page where users change their password.
const passwordPath = Base + "password"

// fixedUsers says why users cannot be changed.
const fixedUsers = "The users of this account are in the configuration of the gateway, and are changed there."

// A passwordModel is the model of the page with which a user changes the own password.
type passwordModel struct {
	Managed bool // the page can change it
	Once    bool // the user must change it
	Done    bool
	Mail    string // the user's address for mail
	IsSaved bool   // the address was set
	Wrong   string
}

func passwordOf(v *visit) (any, *own.Problem) {
	return passwordPage{v}.model(), nil
}

// A passwordPage is the page where a user changes the own password, and the own address for mail.
type passwordPage struct{ visit *visit }

func (p passwordPage) model() passwordModel {
	v := p.visit
	m := passwordModel{Managed: v.isManaged(), Once: v.first == passwordPath}
	if _, u := v.x.User(v.who.account, v.who.user); u != nil {
		m.Mail = u.Mail
	}
	return m
}

// changePassword changes the user's own password. All other sessions of the user end, because they know the old one.
func (v *visit) changePassword() {
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	m := passwordPage{v}.model()
	if !m.Managed {
		v.wrong(http.StatusConflict, v.T(fixedUsers))
		return
	}
	if form.Has("mail") && !m.Once {
		passwordPage{v}.changeMail(form, m)
		return
	}
	current, next := form.Get("current"), form.Get("password")
	switch {
	case m.Once && next == current:
		m.Wrong = v.T("The new password is the one that somebody else has made: choose another.")
	case next != form.Get("again"):
		m.Wrong = v.T("The two new passwords differ.")
	case wrongPassword(next).Key != "":
		m.Wrong = wrongPassword(next).In(v.printer())
	case !v.x.LogInUser(v.who.account, v.who.user, current):
		m.Wrong = v.T("The current password is wrong, or there were too many attempts.")
		v.record("password", nil, "refused")
	}
	if m.Wrong != "" {
		v.page(http.StatusUnprocessableEntity, "password", "Password", m)
		return
	}
	if !v.change("password", v.who.user, editor.SettingUser(v.who.account, v.who.user, next, "")) || !v.renew() {
		return
	}
	m.Done, m.Once = true, false
	v.page(http.StatusOK, "password", "Password", m)
}

// changeMail changes the user's own address for mail, with which somebody else could get a new password.
func (p passwordPage) changeMail(form url.Values, m passwordModel) {
	v := p.visit
	m.Mail = strings.TrimSpace(form.Get("mail"))
	m.Wrong = wrongMail(m.Mail).In(v.printer())
	if m.Wrong == "" && !v.x.LogInUser(v.who.account, v.who.user, form.Get("current")) {
		m.Wrong = v.T("The current password is wrong, or there were too many attempts.")
		v.record("mail", nil, "refused")
	}
	if m.Wrong != "" {
		v.page(http.StatusUnprocessableEntity, "password", "Password", m)
		return
	}
	if v.change("mail", v.who.user, editor.SettingMail(v.who.account, v.who.user, m.Mail)) {
		m.IsSaved = true
		v.page(http.StatusOK, "password", "Password", m)
	}
}

// wrongPassword returns the reason why a password cannot be used, none if it can.
func wrongPassword(password string) (wrong texts.Message) {
	switch {
	case len(password) < leastPassword || len(password) > mostField:
		return texts.Say("A password has 8 to 255 characters.")
	case strings.Contains(password, "${"): // the configuration would look for a variable
		return texts.Say(`A password cannot have "${".`)
	}
	return wrong
}

// wrongMail returns the reason why an address for mail cannot be used, none if it can, or is empty.
func wrongMail(address string) (wrong texts.Message) {
	if address == "" || config.IsMailAddress(address) {
		return wrong
	}
	return texts.Say("The address must be one such as ann@example.net.")
}

// A usersModel is the model of the page of users.
type usersModel struct {
	Users   []config.AccountUser
	Own     string // name of the user who looks
	Managed bool   // the page can change the users
	New     string // new password of user Name, which is shown once
	Wrong   string
	Name    string // name that the form asked for
	Scope   string
	Scopes  []string
}

func usersOf(v *visit) (any, *own.Problem) { return v.users(), nil }

func (v *visit) users() usersModel {
	return usersModel{
		Users: v.x.Account.Config().Logins.Users, Own: v.who.user, Managed: v.isManaged(), Scope: config.LookScope,
		Scopes: []string{config.LookScope, config.SendScope, config.ManageScope},
	}
}

// changeUsers makes, changes or removes a user. Nobody changes the own rights, so that an account keeps somebody who manages it.
func (v *visit) changeUsers() {
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m := v.users()
	m.Name, m.Scope = form.Get("name"), form.Get("scope")
	password := form.Get("password")
	saved := texts.Say("User %s is as you have set it.", m.Name)
	isKnown := slices.ContainsFunc(m.Users, func(u config.AccountUser) bool { return u.Name == m.Name })
	switch {
	case !m.Managed:
		v.wrong(http.StatusConflict, v.T(fixedUsers))
		return
	case m.Name == m.Own:
		m.Wrong = v.T("You cannot change or remove yourself: the page Password changes your password.")
	case form.Get("remove") != "":
		v.setUser("users/remove", m.Name, texts.Say("User %s is removed.", m.Name), editor.RemovingUser(v.who.account, m.Name))
		return
	case form.Get("reset") != "":
		v.resetPassword(m)
		return
	case form.Has("mail"):
		if address := strings.TrimSpace(form.Get("mail")); !isKnown {
			m.Wrong = v.T("There is no user of this name.")
		} else if m.Wrong = wrongMail(address).In(v.printer()); m.Wrong == "" {
			v.setUser("users/mail", m.Name, saved, editor.SettingMail(v.who.account, m.Name, address))
			return
		}
	case form.Get("off") != "":
		off := editor.SettingFactor(v.who.account, m.Name, "", nil)
		v.setUser("users/second-factor/off", m.Name, texts.Say("User %s has no second factor now.", m.Name), off)
		return
	case !keyName.MatchString(m.Name):
		m.Wrong = v.T("The name must be letters, digits, '-' and '_', 64 at most.")
	case !slices.Contains(m.Scopes, m.Scope):
		m.Wrong = v.T("Choose what the user may do.")
	case !isKnown && len(m.Users) >= config.MaxUsers:
		m.Wrong = v.T("There are too many users: remove one first.")
	case !isKnown || password != "":
		m.Wrong = wrongPassword(password).In(v.printer())
	}
	if m.Wrong != "" {
		v.page(http.StatusUnprocessableEntity, "users", "Users", m)
		return
	}
	v.setUser("users/set", m.Name, saved, editor.SettingUser(v.who.account, m.Name, password, m.Scope))
}

// resetPassword gives a user a random password, and shows it once.
func (v *visit) resetPassword(m usersModel) {
	password := rand.Text()[:16]
	if v.change("users/reset", m.Name, editor.ResettingPassword(v.who.account, m.Name, password)) {
		name := m.Name
		m = v.users()
		m.New, m.Name = password, name
		v.page(http.StatusOK, "users", "Users", m)
	}
}

// setUser changes a user, and returns to the page.
func (v *visit) setUser(act, name string, done texts.Message, change func([]byte) ([]byte, error)) {
	if v.change(act, name, change) {
		v.site.sessions.Notify(v.x.Request, browser.Notice{Text: done.In(v.printer())})
		v.redirect(Base + "users")
	}
}
