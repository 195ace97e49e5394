package portal

import (
	"fmt"
	"image/color"
	"net/http"
	"strings"

	"github.com/boombuler/barcode/qr"

	"pmg/config/managed/editor"
	"pmg/protocols/httpsms/own"
)

// factorPath is the path of the page where users set up their second factor.
const factorPath = Base + "second-factor"

// quietDots is the margin that a reader of the picture needs (ISO/IEC 18004 §5.3.8).
const quietDots = 4

// A factorModel is the model of the page where a user sets up the own second factor.
type factorModel struct {
	Managed bool // the page can change it
	Needed  bool // the account's users need one
	On      bool
	Left    int      // recovery codes that were not used
	Off     bool     // it was switched off
	New     []string // new recovery codes, which are shown once
	Offer   *offer   // nil: a factor is set up, or cannot be
	Wrong   string
}

// An offer is a secret that the user may set up.
type offer struct {
	Secret string
	Dots   string // the dark dots of a picture of the secret, as a path of SVG
	Side   int    // dots of a side of the picture, with its margins
}

func factorOf(v *visit) (any, *own.Problem) { return factorPage{v}.model() }

// A factorPage is the page where a user sets up the own second factor.
type factorPage struct{ visit *visit }

func (f factorPage) model() (m factorModel, p *own.Problem) {
	v := f.visit
	_, u := v.x.User(v.who.account, v.who.user)
	if u == nil {
		return m, own.NewProblem("unavailable", "")
	}
	m = factorModel{
		Managed: v.isManaged(), Needed: v.x.Account.Config().Logins.SecondFactor, On: u.TOTPSecret != "",
		Left: len(strings.Fields(u.RecoveryCodes)),
	}
	if m.Managed && !m.On {
		m.Offer, p = f.offer()
	}
	return m, p
}

// offer returns the secret that the user may set up, with its picture.
func (f factorPage) offer() (*offer, *own.Problem) {
	v := f.visit
	p := v.site.portal
	key, err := p.codes.offer(v.who.owner(), brand{v}.name(), v.who.user+"@"+v.who.account)
	if err != nil {
		return nil, own.NewProblem("internal", "")
	}
	picture, err := qr.Encode(key.URL(), qr.M, qr.Auto)
	if err != nil {
		return nil, own.NewProblem("internal", "")
	}
	side := picture.Bounds().Dx()
	var dots strings.Builder
	for y := range side {
		for x := range side {
			if picture.At(x, y) == color.Black {
				_, _ = fmt.Fprintf(&dots, "M%d %dh1v1h-1z", x+quietDots, y+quietDots) // never fails
			}
		}
	}
	return &offer{Secret: key.Secret(), Dots: dots.String(), Side: side + 2*quietDots}, nil
}

// change switches the user's own second factor on or off, or makes new recovery codes.
func (f factorPage) change() {
	v := f.visit
	form, ok := v.form(mostLogin)
	if !ok {
		return
	}
	m, p := f.model()
	code := written(form.Get("code"))
	switch {
	case p != nil:
		v.refuse(p)
		return
	case !m.Managed:
		v.wrong(http.StatusConflict, v.T(fixedUsers))
		return
	case !m.On && !v.x.LogInUser(v.who.account, v.who.user, form.Get("current")):
		m.Wrong = v.T("The current password is wrong, or there were too many attempts.")
	case !m.On && !v.site.portal.codes.use(v.who.owner(), m.Offer.Secret, code):
		m.Wrong = v.T("The code is wrong. Is the clock of your device right?")
	case m.On && !secondStep{v}.proves(code):
		m.Wrong = v.T(wrongCode)
	}
	if m.Wrong != "" {
		v.record("second-factor", nil, "refused")
		v.page(http.StatusUnprocessableEntity, "second-factor", "Second factor", m)
		return
	}
	if m.On && form.Has("off") {
		if v.change("second-factor/off", v.who.user, editor.SettingFactor(v.who.account, v.who.user, "", nil)) && v.renew() {
			v.page(http.StatusOK, "second-factor", "Second factor", factorModel{Off: true})
		}
		return
	}
	f.set(&m)
}

// set puts the offered secret in force, or leaves the present one, and shows new recovery codes.
func (f factorPage) set(m *factorModel) {
	v := f.visit
	_, u := v.x.User(v.who.account, v.who.user)
	if u == nil {
		v.redirect(Base + "login")
		return
	}
	act, secret := "second-factor/codes", u.TOTPSecret
	if m.Offer != nil {
		act, secret = "second-factor/on", m.Offer.Secret
	}
	shown, hashes := newRecovery()
	if !v.change(act, v.who.user, editor.SettingFactor(v.who.account, v.who.user, secret, hashes)) || !v.renew() {
		return
	}
	v.site.portal.codes.forget(v.who.owner())
	m.On, m.Offer, m.New, m.Left = true, nil, shown, len(shown)
	v.page(http.StatusOK, "second-factor", "Second factor", m)
}

// renew begins a new session after a change of the user's own login, which has ended all of them. If it cannot, it answers the
// request.
func (v *visit) renew() bool {
	v.site.sessions.End(v.x.Request)
	_, u := v.x.User(v.who.account, v.who.user)
	if u == nil {
		v.redirect(Base + "login")
		return false
	}
	v.begin(u)
	return true
}
