package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/gateway/operate"
	"pmg/gateway/webhooks"
	"pmg/internal/browser"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms/own"
)

// Limits of the page.
const (
	mostReplayed = 1000 // events that a form queues again
	mostURL      = 2000 // octets of a URL
)

// fixedWebhook says why the webhook cannot be changed.
const fixedWebhook = "The webhook of this account is in the configuration of the gateway, and is changed there."

// A webhooksModel is the model of the page of webhooks.
type webhooksModel struct {
	URL, Fallback string // URLs without parts that may be secret
	Pull          bool
	Signed        bool
	Changes       bool              // the page can change the URL and the key
	Key           string            // the new key, which is shown once
	Test          *webhooks.Attempt // nil: no test call was made
	Entered       string            // URL that the form has
	Wrong         string
	Lost          int // events that the servers did not take in time, mostReplayed at most
	Servers       []webhooks.Row
	Deliveries    []webhooks.Attempt
}

func webhooksOf(v *visit) (any, *own.Problem) { return hooks{v}.model(), nil }

// hooks is the page of webhooks.
type hooks struct{ visit *visit }

func (h hooks) model() webhooksModel {
	v := h.visit
	a := v.x.Account.Config()
	return webhooksModel{
		URL: withoutSecrets(a.Webhook), Fallback: withoutSecrets(a.WebhookFallback), Pull: a.Pull, Signed: a.WebhookKey != "",
		Changes: v.isManaged() && !a.Pull && a.WebhookForm == config.PMGForm,
		Lost:    len(v.rooms().Dead.Of(v.who.account, mostReplayed)),
		Servers: v.rooms().Webhooks.Rows(v.who.account), Deliveries: v.deliveries(""),
	}
}

// change does what a form asks for.
func (h hooks) change() {
	v := h.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m := h.model()
	do := form.Get("do")
	switch {
	case (do == "url" || do == "key") && !m.Changes:
		v.wrong(http.StatusConflict, v.T(fixedWebhook))
	case do == "url":
		h.setURL(&m, strings.TrimSpace(form.Get("url")))
	case do == "key":
		h.makeKey(&m)
	case do != "test" && do != "replay" && do != "call":
		v.wrong(http.StatusBadRequest, v.T("The form cannot be read."))
	case !v.site.portal.calls.take(v.who.account):
		v.wait(int(period.Seconds()))
		v.wrong(http.StatusTooManyRequests, v.T("Your servers were called too often by hand. Try again in an hour."))
	case do == "test":
		h.test(&m)
	case do == "replay":
		h.replay()
	default:
		h.call()
	}
}

// setURL changes the URL. It may lead to public addresses, and to those that the operator allows the account.
func (h hooks) setURL(m *webhooksModel, to string) {
	v := h.visit
	a := v.x.Account.Config()
	o := editor.Options{"webhook": nil, "webhook_public": nil}
	if to != "" {
		o = editor.Options{"webhook": to, "webhook_public": true}
		_, err := httpcall.Allowed(a.CallbackURLs, true, to)
		if len(to) > mostURL {
			m.Wrong = v.T("The URL may have %s octets at most.", mostURL)
		} else if err = cmp.Or(err, httpcall.CheckPrefix(to)); err != nil {
			m.Wrong = v.T("The URL %s.", err)
		} else if strings.Contains(to, "${") { // the configuration would look for a variable
			m.Wrong = v.T(`The URL must not have "${".`)
		}
	} else if a.WebhookFallback != "" {
		m.Wrong = v.T("The webhook cannot be removed while it has a fallback, which the operator has set. Ask the operator.")
	}
	if m.Entered = to; m.Wrong != "" {
		v.page(http.StatusUnprocessableEntity, "webhooks", "Webhooks", m)
		return
	}
	if v.change("webhooks/url", v.who.account, o.Merging(managed.Accounts, v.who.account)) {
		h.done(v.T("The webhook is changed."))
	}
}

// makeKey makes a new key. The earlier one signs as well, until the next one is made.
func (h hooks) makeKey(m *webhooksModel) {
	v := h.visit
	m.Key = httpcall.NewSecret()
	both := m.Key
	if was := strings.Fields(v.x.Account.Config().WebhookKey); len(was) > 0 {
		both += " " + was[0]
	}
	o := editor.Options{"webhook_key": both}
	if v.change("webhooks/key", v.who.account, o.Merging(managed.Accounts, v.who.account)) {
		m.Signed = true
		v.page(http.StatusOK, "webhooks", "Webhooks", m)
	}
}

// test calls the webhook with a test event.
func (h hooks) test(m *webhooksModel) {
	v := h.visit
	one, err := v.rooms().Webhooks.Test(v.x.Request.Context(), v.who.account, false)
	status := http.StatusOK
	if err != nil {
		m.Wrong, status = err.Error(), http.StatusUnprocessableEntity
	} else {
		m.Test = &one
	}
	v.record("webhooks/test", nil, fmt.Sprint("status ", one.Status))
	v.page(status, "webhooks", "Webhooks", m)
}

// replay queues the events again that the servers did not take in time.
func (h hooks) replay() {
	v := h.visit
	ids := v.rooms().Dead.Of(v.who.account, mostReplayed)
	if len(ids) == 0 {
		h.done(v.T("No event is left."))
		return
	}
	var page operate.QueuePage
	err := v.site.portal.read(v.x, func(ctx context.Context) (err error) {
		change := operate.QueueChange{What: operate.RetryMessages, Operator: v.String()}
		s := operate.Selection{IDs: ids, Account: v.who.account, State: operate.StateDead}
		page, err = v.rooms().Queue.ChangeStored(ctx, change, s, 0, len(ids))
		return err
	})
	switch {
	case errors.Is(err, errBusy):
		v.refuse(busyReading())
	case err != nil:
		v.rooms().Node.Log.Warn().Err(err).Str("account", v.who.account).Msg("cannot replay events of an account")
		v.refuse(own.NewProblem("unavailable", "the events cannot be queued now"))
	default:
		v.record("webhooks/replay", nil, fmt.Sprint(len(page.Messages), " events"))
		h.done(v.T("Events queued again: %d.", len(page.Messages)))
	}
}

// call calls the servers now for which events wait, also those that are not called any more.
func (h hooks) call() {
	v := h.visit
	all := v.rooms().Webhooks
	n := len(all.Enable(v.who.account, v.String())) + len(all.Retry(v.who.account, v.String()))
	v.record("webhooks/call", nil, "ok")
	h.done(v.T("Servers called: %d.", n))
}

// done returns to the page with a notice.
func (h hooks) done(text string) {
	v := h.visit
	v.site.sessions.Notify(v.x.Request, browser.Notice{Text: text})
	v.redirect(Base + "webhooks")
}

// deliveries returns the latest deliveries to servers of the account, of a message unless id is "".
func (v *visit) deliveries(id string) []webhooks.Attempt {
	return v.rooms().Webhooks.Attempts(webhooks.Filter{Account: v.who.account, ID: id, Limit: mostShown})
}

// withoutSecrets returns a URL without its user and its query.
func withoutSecrets(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	if u.User = nil; u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String()
}
