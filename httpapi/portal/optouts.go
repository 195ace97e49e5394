package portal

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pmg/internal/browser"
	"pmg/internal/texts"
	"pmg/protocols/httpsms/own"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

// mostFile is the limit of the octets of a list as CSV: a few hundred thousand numbers.
const mostFile = 16 << 20

// optOuts is the page about the lists of opt-outs that are the account's alone.
type optOuts struct{ visit *visit }

// An optOutsModel is the model of the page of opt-outs.
type optOutsModel struct {
	Lists  []string
	List   string // "": the account has none
	Number string
	Found  *numbers.Found // nil: no number was asked for
	Recent []numbers.Change
	Wrong  string
}

func optOutsOf(v *visit) (any, *own.Problem) { return optOuts{v}.model(v.x.Request.URL.Query()) }

// model returns the model of the page for a list, and for a number if one is given.
func (o optOuts) model(q url.Values) (m optOutsModel, p *own.Problem) {
	v := o.visit
	m = optOutsModel{Lists: v.rooms().Node.Config().OptOuts(v.who.account), Number: strings.TrimSpace(q.Get("number"))}
	register, p := o.register(&m, q.Get("list"))
	if p != nil || register == nil {
		return m, p
	}
	isNumber := number.Read(m.Number).IsPerson()
	if m.Number != "" && !isNumber {
		m.Wrong = v.T("This is not a number, such as +46701740605.")
	}
	err := v.site.portal.read(v.x, func(ctx context.Context) (err error) {
		if m.Recent, err = register.Recent(); err != nil || !isNumber {
			return err
		}
		found, err := register.Look(ctx, m.Number)
		m.Found = &found
		return err
	})
	var bad numbers.BadEntry
	switch {
	case errors.As(err, &bad):
		m.Found, m.Wrong = nil, bad.Error()
	case errors.Is(err, errBusy):
		return m, busyReading()
	case err != nil:
		return m, o.failed(err)
	}
	zone := v.zone()
	m.Recent = m.Recent[:min(len(m.Recent), mostListed)]
	for i := range m.Recent {
		m.Recent[i].Origin = o.here(m.Recent[i].Origin, zone)
	}
	if m.Found != nil {
		for i := range m.Found.History {
			m.Found.History[i].Origin = o.here(m.Found.History[i].Origin, zone)
		}
	}
	return m, nil
}

// register returns the list of a name, or the first one if name is "", nil if the account has none. Lists of others are answered
// as those that do not exist.
func (o optOuts) register(m *optOutsModel, name string) (*numbers.List, *own.Problem) {
	switch {
	case name == "" && len(m.Lists) == 0:
		return nil, nil
	case name == "":
		name = m.Lists[0]
	case !slices.Contains(m.Lists, name):
		return nil, own.NewProblem("not-found", "")
	}
	m.List = name
	register, err := o.visit.rooms().Lists.Register(name)
	if err != nil { // a reload has removed it
		return nil, own.NewProblem("not-found", "")
	}
	return register, nil
}

// failed logs why a list cannot be read or changed, and returns the answer.
func (o optOuts) failed(err error) *own.Problem {
	v := o.visit
	if v.rooms().Node.Repeats.First("lists of the portal") {
		v.rooms().Node.Log.Warn().Err(err).Str("account", v.who.account).
			Msg("cannot read or change a list of opt-outs of an account")
	}
	return own.NewProblem("unavailable", "the list cannot be read or changed now")
}

// shown returns what the account sees of an origin: the operator, connectors and their reasons are not the account's business.
func (o optOuts) shown(from numbers.Origin) numbers.Origin {
	user, isOwn := strings.CutSuffix(from.Who, o.suffix())
	if user = strings.TrimPrefix(user, "user "); !isOwn || from.Source != numbers.Page {
		return numbers.Origin{At: from.At, Source: from.Source}
	}
	from.Who = user
	return from
}

// here is shown, with the time in the account's zone.
func (o optOuts) here(from numbers.Origin, zone *time.Location) numbers.Origin {
	if from = o.shown(from); !from.At.IsZero() {
		from.At = from.At.In(zone)
	}
	return from
}

// suffix is the end of the names of the account's users in lists.
func (o optOuts) suffix() string { return " of account " + o.visit.who.account }

// change adds a number to a list, or removes it. Removing needs the scope manage and a reason, because the number is sent to
// again.
func (o optOuts) change() {
	v := o.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m, p := o.model(form)
	removes := form.Get("remove") != ""
	reason := strings.TrimSpace(form.Get("reason"))
	switch {
	case p != nil:
		v.refuse(p)
		return
	case m.List == "":
		v.refuse(own.NewProblem("not-found", ""))
		return
	case removes && v.scope < manage:
		v.wrong(http.StatusForbidden, v.T("You may not do this. Ask your administrator for the right."))
		return
	case m.Wrong != "":
	case m.Number == "":
		m.Wrong = v.T("A number is needed.")
	case removes && reason == "":
		m.Wrong = v.T("A reason is needed, such as: asked for messages again by letter.")
	case removes && m.Found.By == numbers.ByPrefix:
		m.Wrong = v.T("The number is on the list by a prefix, and cannot be removed here.")
	default:
		m.Wrong, p = o.set(&m, !removes, reason)
	}
	switch {
	case p != nil:
		v.refuse(p)
	case m.Wrong != "":
		v.page(http.StatusUnprocessableEntity, "opt-outs", "Opt-outs", m)
	default:
		v.redirect(Base + "opt-outs?" + url.Values{"list": {m.List}, "number": {m.Number}}.Encode())
	}
}

// set changes a list. wrong is what is wrong with the number or the reason.
func (o optOuts) set(m *optOutsModel, on bool, reason string) (wrong string, p *own.Problem) {
	v := o.visit
	act, done := "opt-outs/remove", texts.Say("%s is not on the list now.", m.Number)
	if on {
		act, done = "opt-outs/add", texts.Say("%s is on the list.", m.Number)
	}
	from := numbers.Origin{Source: numbers.Page, Who: "user " + v.who.user + o.suffix(), Reason: reason}
	_, err := v.rooms().Lists.Change(m.List, on, from, m.Number)
	var bad numbers.BadEntry
	switch {
	case errors.As(err, &bad):
		return bad.Error(), nil
	case err != nil:
		v.record(act, map[string]string{"list": m.List}, "failed")
		return "", o.failed(err)
	}
	v.record(act, map[string]string{"list": m.List}, "ok")
	v.site.sessions.Notify(v.x.Request, browser.Notice{Text: done.In(v.printer())})
	return "", nil
}

// file answers with a list as CSV.
func (o optOuts) file() {
	v := o.visit
	q := v.x.Request.URL.Query()
	m := optOutsModel{Lists: v.rooms().Node.Config().OptOuts(v.who.account)}
	register, p := o.register(&m, q.Get("list"))
	if p == nil && register == nil {
		p = own.NewProblem("not-found", "")
	}
	if p != nil {
		v.refuse(p)
		return
	}
	var b boundedBuffer
	err := v.site.portal.read(v.x, func(ctx context.Context) error {
		return register.WriteCSV(ctx, &b, q.Get("all") != "", o.shown)
	})
	switch {
	case errors.Is(err, errBusy):
		v.refuse(busyReading())
	case errors.Is(err, errTooLong):
		v.wrong(http.StatusConflict, v.T("The list is too long to be sent by this page. Ask the operator of the gateway for it."))
	case err != nil:
		v.refuse(o.failed(err))
	default:
		v.record("opt-outs/export", map[string]string{"list": m.List}, "ok")
		v.answer(http.StatusOK, "text/csv; charset=utf-8", b.Bytes(),
			[2]string{"Content-Disposition", `attachment; filename="opt-outs.csv"`})
	}
}

// errTooLong is the error of a file that exceeds mostFile.
var errTooLong = errors.New("the file is too long")

// A boundedBuffer is a file that has mostFile octets at most.
type boundedBuffer struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostFile {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
