package portal

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"pmg/internal/browser"
	"pmg/internal/texts"
	"pmg/internal/timetext"
	"pmg/internal/token"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// A sending is the model of the page that submits a message.
type sending struct {
	From, To, Text string
	At             string    // time before which it does not leave, as the user has written it; "": none
	SendAt         time.Time // that time
	Reply          string    // id of the received text that the message answers; "": none
	Once           string    // identifies the form, so that a repeated form is recognized
	Wrong          string
	Preview        *preview // nil: no preview was requested
}

// A preview is the outcome that a message would have.
type preview struct {
	Encoding  string
	Parts     int
	Price     string // price, with the currency; "": the account has no prices
	Connector string // public name of the connector
}

func sendOf(v *visit) (any, *own.Problem) {
	s := sending{Once: token.New()}
	if id := v.x.Request.URL.Query().Get("reply"); id != "" {
		if p := (inboxPage{v}).replyTo(&s, id); p != nil {
			return nil, p
		}
	}
	return s, nil
}

var onceForm = regexp.MustCompile(`^[A-Za-z0-9_-]{20,100}$`)

// submit shows the outcome that the message of the form would have, or submits the message. A repeated form submits nothing.
func (v *visit) submit() {
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	s := sending{
		From: strings.TrimSpace(form.Get("from")), To: strings.TrimSpace(form.Get("to")), Once: form.Get("once"),
		Text: strings.ReplaceAll(form.Get("text"), "\r\n", "\n"), At: strings.TrimSpace(form.Get("at")), Reply: form.Get("reply"),
	}
	if !onceForm.MatchString(s.Once) {
		s.Once = token.New()
	}
	if form.Has("choose") {
		s.Text = textsPage{v}.text(form.Get("template"))
		v.page(http.StatusOK, "send", "Send", s)
		return
	}
	now := time.Unix(0, v.rooms().Node.Clock.WallNow())
	var wrong texts.Message
	if s.SendAt, wrong = readSendAt(s.At, now, v.zone()); wrong.Key != "" {
		s.Wrong = wrong.In(v.printer())
		v.page(http.StatusUnprocessableEntity, "send", "Send", s)
		return
	}
	m, p := s.read(&v.site.portal.reader, now)
	switch {
	case p != nil:
	case form.Has("preview"):
		if s.Preview, p = v.preview(m); p == nil {
			v.page(http.StatusOK, "send", "Send", s)
			return
		}
	default:
		if p = v.sent(m, &s); p == nil {
			return
		}
	}
	if s.Wrong = v.textOf(p); p.Is("idempotency-mismatch") {
		s.Once = token.New()
		s.Wrong = v.T("This form was sent before, with another message. If this one is to be sent as well, send it again.")
	}
	v.page(p.Status, "send", "Send", s)
}

// readSendAt reads the time before which a message does not leave, as people of a zone write it. It returns the zero time for "".
func readSendAt(text string, now time.Time, zone *time.Location) (at time.Time, wrong texts.Message) {
	if text == "" {
		return at, wrong
	}
	at, err := timetext.ParseTimeIn(text, now, zone)
	switch {
	case err != nil:
		return at, texts.Say("The time must be such as 2026-11-20 19:05, or empty.")
	case !at.After(now):
		return at, texts.Say("The time must be in the future, or empty.")
	}
	return at, wrong
}

// body returns the request of the API for the message.
func (s *sending) body() []byte {
	members := map[string]string{"to": s.To, "text": s.Text}
	if s.From != "" {
		members["from"] = s.From
	}
	if !s.SendAt.IsZero() {
		members["send_at"] = s.SendAt.UTC().Format(time.RFC3339)
	}
	body, _ := json.Marshal(members) // texts can always be written
	return body
}

// read reads the message as the API reads it.
func (s *sending) read(r *own.Reader, now time.Time) (*own.Message, *own.Problem) {
	return r.Message(s.body(), now)
}

func (v *visit) preview(m *own.Message) (*preview, *own.Problem) {
	r, to, p := v.rooms().Messages.Preview(v.x, m)
	if p != nil {
		return nil, p
	}
	return &preview{Encoding: m.Encoding, Parts: r.Parts, Price: r.Quote.String(), Connector: to}, nil
}

// sent submits the message, and redirects to its page.
func (v *visit) sent(m *own.Message, s *sending) *own.Problem {
	r, p := v.rooms().Messages.Submit(v.x, m, "p"+s.Once, s.body())
	if p != nil {
		v.record("send", nil, p.Title)
		v.x.LogRequest(httpsms.Submit, &m.Order, p.Status, httpsms.Result{Code: r.Code, Step: r.Step})
		return p
	}
	id := sms.FormatID(r.ID)
	inboxPage{v}.replied(s, r.ID)
	v.record("send", map[string]string{"id": id}, "ok")
	v.site.sessions.Notify(v.x.Request, browser.Notice{Text: v.T("The message was accepted.")})
	v.x.Answer(&httpsms.Answer{Status: http.StatusSeeOther, Header: [][2]string{{"Location", Base + "messages/" + id}}})
	// 202, as in the API: the log would show the redirect's status as a refusal
	v.x.LogRequest(httpsms.Submit, &m.Order, http.StatusAccepted, httpsms.Result{ID: r.ID})
	return nil
}
