package portal

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"pmg/internal/browser"
	"pmg/internal/texts"
	"pmg/protocols/httpsms/own"
)

// mailingPath is the path of the pages about mailings.
const mailingPath = Base + "mailing"

// A mailingModel is the model of the page that begins a mailing.
type mailingModel struct {
	From, Text string
	At         string // time before which the messages do not leave, as the user has written it; "": none
	Template   string // name of the template that the form selects
	Chosen     bool   // the form asks for the template's text alone
	Wrong      string
	Rows       []mailingRow
}

// A mailingRow is a mailing of the account, as far as it has come.
type mailingRow struct {
	ID       string
	Made, At time.Time
	progress
}

// mailingPages are the pages about mailings.
type mailingPages struct{ visit *visit }

func mailingsOf(v *visit) (any, *own.Problem) { return mailingPages{v}.model(), nil }

func mailingOf(v *visit) (any, *own.Problem) {
	m := v.site.portal.mailings.find(v.who.account, v.x.Request.PathValue("id"))
	if m == nil {
		return nil, own.NewProblem("not-found", forgotten)
	}
	return mailingRow{m.ID, m.made, m.at, m.shown()}, nil
}

func (s mailingPages) model() (m mailingModel) {
	for _, one := range s.visit.site.portal.mailings.all(s.visit.who.account) {
		m.Rows = append(m.Rows, mailingRow{one.ID, one.made, one.at, one.shown()})
	}
	return m
}

// begin reads the form with the file, and begins to check the mailing.
func (s mailingPages) begin() {
	v := s.visit
	m := s.model()
	file, ok := s.form(&m)
	if !ok {
		return
	}
	if m.Chosen {
		m.Text = textsPage{v}.text(m.Template)
		v.page(http.StatusOK, "mailing", "Mailing", m)
		return
	}
	var r recipients
	var wrong texts.Message
	if !v.x.Parse(func() { r, wrong = readRecipients(file) }) {
		panic(http.ErrAbortHandler) // nobody reads an answer
	}
	if wrong.Key == "" {
		wrong = r.wrongText(m.Text)
	}
	if len(m.From) > mostField {
		wrong = texts.Say("The sender is too long.")
	}
	var at time.Time
	if wrong.Key == "" {
		at, wrong = readSendAt(m.At, s.now(), v.zone())
	}
	if wrong.Key == "" {
		one, isNew, ok := v.site.portal.mailings.add(newMailing(v.who.account, m.From, m.Text, at, file, r))
		if ok {
			if isNew {
				s.run(one, one.check)
			}
			v.record("mailing/check", map[string]string{"mailing": one.ID}, "ok")
			v.redirect(mailingPath + "/" + one.ID)
			return
		}
		wrong = texts.Say("Another mailing has not ended: send it, or stop it.")
	}
	m.Wrong = wrong.In(v.printer())
	v.page(http.StatusUnprocessableEntity, "mailing", "Mailing", m)
}

// form reads the form with the file into a model. If it fails it answers the request.
func (s mailingPages) form(m *mailingModel) (file []byte, ok bool) {
	v := s.visit
	kind, p, err := mime.ParseMediaType(v.x.Request.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		v.wrong(http.StatusUnsupportedMediaType, v.T("The request must contain a form with a file."))
		return nil, false
	}
	b, err := v.x.ReadBody(mostUpload, v.who.account)
	if err != nil {
		v.wrong(http.StatusRequestEntityTooLarge, v.T("The file is too large: 2 MiB at most. Or it cannot be read."))
		return nil, false
	}
	parts := multipart.NewReader(bytes.NewReader(b), p["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return file, true
		}
		var value []byte
		if err == nil {
			value, err = io.ReadAll(part)
		}
		if err != nil {
			v.wrong(http.StatusBadRequest, v.T("The form cannot be read."))
			return nil, false
		}
		switch part.FormName() {
		case "file":
			file = value
		case "from":
			m.From = strings.TrimSpace(string(value))
		case "at":
			m.At = strings.TrimSpace(string(value))
		case "template":
			m.Template = string(value)
		case "choose":
			m.Chosen = true
		case "text":
			m.Text = strings.ReplaceAll(string(value), "\r\n", "\n")
		}
	}
}

// now returns the time by the wall clock.
func (s mailingPages) now() time.Time { return time.Unix(0, s.visit.rooms().Node.Clock.WallNow()) }

// run carries a mailing on after the request. It ends with the gateway, and as soon as the user may not send any more.
func (s mailingPages) run(m *mailing, do func(*mailingPost)) {
	v := s.visit
	by := &mailingPost{
		messages: v.rooms().Messages, reader: &v.site.portal.reader, from: v.x.Source(),
		now: s.now,
		may: v.mayStill(send),
	}
	v.rooms().Go(m.begun(by, do))
}

// change sends a mailing that was checked, or stops one.
func (s mailingPages) change() {
	v := s.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m := v.site.portal.mailings.find(v.who.account, v.x.Request.PathValue("id"))
	if m == nil {
		v.wrong(http.StatusNotFound, v.T(forgotten))
		return
	}
	act, notice := "mailing/stop", texts.Say("The mailing is stopped. What was sent before is sent.")
	switch {
	case form.Has("stop"):
		m.end()
	case m.isLate(s.now()) && m.shown().State == checked:
		act, notice = "", texts.Say(
			"Nothing is sent: the time of the mailing has passed. Stop it, and upload the file with another time.",
		)
	case m.maySend() && m.enter(checked, beingSent):
		act, notice = "mailing/send", texts.Say("The mailing is being sent.")
		s.run(m, m.send)
	default:
		act, notice = "", texts.Say("Nothing has changed: the mailing has gone on meanwhile.")
	}
	if act != "" {
		v.record(act, map[string]string{"mailing": m.ID}, "ok")
	}
	v.site.sessions.Notify(v.x.Request, browser.Notice{Text: notice.In(v.printer())})
	v.redirect(mailingPath + "/" + m.ID)
}

// forgotten is what is said of a mailing that is not known.
const forgotten = "This mailing is not known any more: the gateway was restarted, or it has ended long ago. If it had not " +
	"ended, upload the same file with the same sender and text: nobody gets the message again who has got it."
