package portal

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"pmg/gateway/inbox"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
	"pmg/sms/number"
)

// An inboxModel is the model of the page with received texts.
type inboxModel struct {
	Off  bool // the account has no inbox
	Q    string
	All  bool // answered texts are shown as well
	Rows []inboxRow
	Next string // the query of the next page; "": this page is the last
}

// An inboxRow is a received text.
type inboxRow struct {
	inbox.Message
	ID, Answer string // ids as they are shown; Answer "": there is no reply
}

// An inboxPage is the page with received texts, and what the form Send has of it.
type inboxPage struct{ visit *visit }

func inboxOf(v *visit) (any, *own.Problem) { return inboxPage{v}.model() }

// model lists the received texts that the request selects: those with a number, and without a reply unless all are asked for.
func (i inboxPage) model() (any, *own.Problem) {
	v := i.visit
	values := v.x.Request.URL.Query()
	m := inboxModel{
		Off: v.x.Account.Config().Logins.Pages.Inbox == 0, Q: strings.TrimSpace(values.Get("q")), All: values.Get("all") != "",
	}
	if m.Off {
		return m, nil
	}
	var all []inbox.Message
	err := v.site.portal.read(v.x, func(context.Context) (err error) {
		all, err = v.rooms().Inbox.List(v.who.account)
		return err
	})
	switch {
	case errors.Is(err, errBusy):
		return nil, busyReading()
	case err != nil:
		return nil, i.unreadable(err)
	}
	below, err := httpsms.ParseID(values.Get("before"))
	for _, one := range all {
		if err == nil && one.ID >= below || !m.All && one.Answer != 0 || !isWith(&one, m.Q) {
			continue
		}
		if len(m.Rows) == mostListed {
			m.Next = m.query(m.Rows[mostListed-1].ID)
			break
		}
		row := inboxRow{Message: one, ID: sms.FormatID(one.ID)}
		if one.Answer != 0 {
			row.Answer = sms.FormatID(one.Answer)
		}
		m.Rows = append(m.Rows, row)
	}
	return m, nil
}

// query returns the query of the page of texts before one.
func (m *inboxModel) query(before string) string {
	next := url.Values{"before": {before}}
	if m.Q != "" {
		next.Set("q", m.Q)
	}
	if m.All {
		next.Set("all", "1")
	}
	return "?" + next.Encode()
}

// isWith reports whether a text is from a number or to it; q may be a part of the number, and "" is any.
func isWith(m *inbox.Message, q string) bool {
	wanted, part := number.Read(q), strings.ToLower(q)
	if digits := wanted.Digits(); digits != nil {
		part = string(digits)
	}
	for _, address := range []string{m.From, m.To} {
		if strings.Contains(strings.ToLower(address), part) || number.Read(address).Equal(wanted) {
			return true
		}
	}
	return false
}

// unreadable logs why the inbox cannot be read or written, and returns the problem for the user.
func (i inboxPage) unreadable(err error) *own.Problem {
	v := i.visit
	if v.rooms().Node.Repeats.First("inbox of the portal") {
		v.rooms().Node.Log.Error().Err(err).Str("account", v.who.account).Msg("cannot read or write the inbox of an account")
	}
	return own.NewProblem("unavailable", "it cannot be read now")
}

// replyTo fills in a form with the sender and the recipient of a reply to a received text.
func (i inboxPage) replyTo(s *sending, id string) *own.Problem {
	v := i.visit
	received, err := httpsms.ParseID(id)
	if err != nil {
		return own.NewProblem("not-found", "")
	}
	from, to, ok, err := v.rooms().Inbox.Find(v.who.account, received)
	switch {
	case err != nil:
		return i.unreadable(err)
	case !ok:
		return own.NewProblem("not-found", "")
	}
	s.From, s.To, s.Reply = to, from, id
	return nil
}

// replied records that a message that was sent by a form is the reply to a received text, if it went to the text's sender.
func (i inboxPage) replied(s *sending, id uint64) {
	v := i.visit
	var asked sending
	if s.Reply == "" || i.replyTo(&asked, s.Reply) != nil || !number.Read(asked.To).Equal(number.Read(s.To)) {
		return
	}
	received, err := httpsms.ParseID(s.Reply)
	if err == nil {
		err = v.rooms().Inbox.Answered(v.who.account, received, id)
	}
	if err != nil {
		_ = i.unreadable(err) // no problem for the user, whose message was sent
	}
}
