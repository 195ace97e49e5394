package webhook

import (
	"pmg/config"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
	"pmg/protocols/httpsms/kannel"
	"pmg/protocols/httpsms/own"
)

// dialects make the calls of clients: in the dialect of the request that submitted a message, or in the form of webhook_form.
type dialects struct {
	reports map[uint8]func(*httpsms.Event) (*httpsms.Call, bool)
	forms   map[string]httpsms.Form
}

// newDialects returns all dialects: a new dialect needs a row here.
func newDialects() dialects {
	d := dialects{reports: map[uint8]func(*httpsms.Event) (*httpsms.Call, bool){}, forms: map[string]httpsms.Form{}}
	for _, one := range []httpsms.Dialect{own.Dialect(), kannel.Dialect(), jasmin.Dialect()} {
		d.reports[one.Number] = one.Report
		for name, form := range one.Forms {
			d.forms[name] = form
		}
	}
	return d
}

// call returns the call for an event in the dialect of its message. It reports false if the dialect has no call for the event.
func (d *dialects) call(e *httpsms.Event) (*httpsms.Call, bool) {
	if f := d.reports[e.Context.Dialect]; f != nil && e.Message == nil {
		return f(e)
	}
	return own.Tell(e), true
}

// hasOtherForm reports whether the webhook of an account is called in the form of another gateway; a is nil if the account no
// longer exists.
func hasOtherForm(a *config.Account) bool { return a != nil && a.WebhookForm != config.PMGForm }

// inForm returns the call of an account's webhook for a message from a mobile in the form of another gateway,
// and the function that takes its reply, nil if there is none. It reports false for receipts, which go to the
// URLs that came with messages.
func (d *dialects) inForm(a *config.Account, url string, e *httpsms.Event) (c *httpsms.Call, r *reply, ok bool) {
	form := d.forms[a.WebhookForm]
	if e.Message == nil || form == nil {
		return nil, nil, false
	}
	c = form(e, a.SystemID, url)
	if a.WebhookReply {
		r = &reply{}
		c.Replied = func(mediaType string, body []byte) { r.mediaType, r.body = mediaType, body }
	}
	return c, r, true
}
