package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/internal/browser"
	"pmg/sms"
)

// tryName is the name of the page that submits a message, and of the action.
const tryName = "try"

// A tryPage is the model of the page that submits a message.
type tryPage struct {
	Accounts               []string // accounts that may submit
	Account, From, To      string
	Text                   string
	Receipt                bool
	ID                     string // id of the message that was submitted last
	CanExplain             bool
	Answer, Wrong, Refused string // answer; reason why there is none; reason of the refusal
}

// IsStill reports that the page does not change.
func (*tryPage) IsStill() bool { return true }

// try shows the form, filled in from the page's parameters. The parameters never contain the text of the message.
func (s *site) try(r *http.Request) any {
	p := &tryPage{CanExplain: s.Explain != nil, Account: r.FormValue("account"), From: r.FormValue("from"), To: r.FormValue("to")}
	if id, err := sms.ParseID(r.FormValue("id")); err == nil {
		p.ID = sms.FormatID(id)
	}
	cfg := s.server.Gateway().Node.Config()
	for i := range cfg.Accounts {
		if a := &cfg.Accounts[i]; admin.SubmitsOn(cfg, a) != nil {
			p.Accounts = append(p.Accounts, a.SystemID)
		}
	}
	return p
}

// tries handles the form. It explains the message, or submits the message and returns to the form, which
// links to the message's story. Errors are shown with the form as filled in. The form is also posted to
// explain a message, so that no text is part of a URL.
func (s *site) tries(p *page) http.HandlerFunc {
	acts := admin.Actions()
	act := &acts[slices.IndexFunc(acts, func(a admin.Action) bool { return a.Name == tryName })]
	return func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * patience))
		v := s.view(p, r)
		m := v.Model.(*tryPage)
		m.Text = strings.ReplaceAll(r.PostFormValue(access.Text), "\r\n", "\n") // browsers send CR and LF
		r.Form.Set(access.Text, m.Text)
		m.ID, m.Receipt = "", r.PostFormValue("receipt") != ""
		if r.PostFormValue("explain") != "" {
			access.Named(r, tryName+"/explain")
			if m.CanExplain {
				m.Answer, m.Wrong = s.explainer.ask(
					&s.Tools, s.server.Gateway().Node.Config(),
					Question{Account: m.Account, From: m.From, To: m.To, Text: m.Text},
				)
			}
			s.write(w, http.StatusOK, p.Template(), v)
			return
		}
		if c := access.CallerOf(r); c.Scope < act.Scope {
			access.Forbid(w, c, act.Scope)
			return
		}
		done, err := s.server.Do(act, r)
		if err != nil {
			m.Refused = err.Error()
			s.write(w, http.StatusOK, p.Template(), v)
			return
		}
		tried := done.(admin.Tried)
		s.server.Guard().Sessions.Notify(r, browser.Notice{Text: told(act, tried)})
		back := url.Values{"account": {m.Account}, "from": {m.From}, "to": {m.To}, "id": {tried.ID}}
		http.Redirect(w, r, s.Path(&p.Page)+"?"+back.Encode(), http.StatusSeeOther)
	}
}

// triedText returns the outcome of a submitted message as text.
func triedText(t *admin.Tried) string {
	text := fmt.Sprintf("Message %s is accepted from %s", t.ID, t.Account)
	if t.Parts > 1 {
		text += fmt.Sprintf(" as %d short messages", t.Parts)
	}
	if t.Parked {
		text += ". No route has a target for it: it is put aside for an operator"
	}
	return text + "."
}
