package webhook

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"pmg/config"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// inbound returns the event of a message from a mobile.
func inbound() *httpsms.Event {
	m := &sms.Message{Kind: sms.MO}
	m.Set(sms.Address{Addr: []byte("4670")}, sms.Address{Addr: []byte("72000")}, []byte("a"))
	return &httpsms.Event{ID: 1, Account: "client", Message: m}
}

// with returns an account with options.
func with(c config.Callbacks) *config.Account {
	return &config.Account{SystemID: "client", Callbacks: c}
}

// Each value of webhook_form has a form, and calls the URL that it is given.
func TestForms(t *testing.T) {
	t.Parallel()
	all := newDialects()
	field, _ := reflect.TypeFor[config.Account]().FieldByName("WebhookForm")
	for name := range strings.SplitSeq(field.Tag.Get("enum"), "|") {
		a := &config.Account{SystemID: "client", Callbacks: config.Callbacks{WebhookForm: name, WebhookReply: name == "kannel-get"}}
		d := &delivery{account: a, isWebhook: true}
		if !d.write(all, inbound(), "http://192.0.2.1/mo") {
			t.Errorf("%s: there is no call", name)
			continue
		}
		if u, err := url.Parse(d.request.URL); err != nil || u.Host != "192.0.2.1" || u.Path != "/mo" {
			t.Errorf("%s: %s %v", name, d.request.URL, err)
		}
		if (d.reply != nil) != a.WebhookReply {
			t.Errorf("%s: reply %v", name, d.reply)
		}
	}
}

// A receipt goes to the URL of its message in the dialect of that, and to a webhook in our own form alone.
func TestWrite(t *testing.T) {
	t.Parallel()
	all := newDialects()
	receipt := func(dialect uint8) *httpsms.Event {
		return &httpsms.Event{ID: 1, Report: &sms.Report{State: sms.StateDelivered}, Context: sms.Context{Dialect: dialect, URL: "http://192.0.2.2/dlr"}}
	}
	for name, c := range map[string]struct {
		d    delivery
		e    *httpsms.Event
		want string // the beginning of the URL; empty: no call
	}{
		"a webhook":                          {delivery{account: with(config.Callbacks{WebhookForm: config.PMGForm}), isWebhook: true}, receipt(httpsms.Own), "http://192.0.2.1/hook"},
		"a webhook in another form":          {delivery{account: with(config.Callbacks{WebhookForm: "jasmin-get"}), isWebhook: true}, receipt(httpsms.Own), ""},
		"a URL of ours":                      {delivery{account: with(config.Callbacks{WebhookForm: config.PMGForm})}, receipt(httpsms.Own), "http://192.0.2.2/dlr"},
		"a URL of a later version's dialect": {delivery{account: with(config.Callbacks{WebhookForm: config.PMGForm})}, receipt(77), "http://192.0.2.2/dlr"},
		"a URL of ours, and another form":    {delivery{account: with(config.Callbacks{WebhookForm: "jasmin-get"})}, receipt(httpsms.Own), "http://192.0.2.2/dlr"},
	} {
		ok := c.d.write(all, c.e, "http://192.0.2.1/hook")
		if ok != (c.want != "") || ok && c.d.request.URL != c.want {
			t.Errorf("%s: %v %+v", name, ok, c.d.request)
		}
	}
}

// A URL that came with a message is not called if its account does not allow it any more; a webhook always is.
func TestTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d       delivery
		trusted bool
		refused bool
	}{
		"a webhook":          {delivery{isWebhook: true, account: with(config.Callbacks{})}, true, false},
		"of a customer":      {delivery{isWebhook: true, account: with(config.Callbacks{WebhookPublic: true})}, false, true},
		"its fallback":       {delivery{isWebhook: true, fallback: true, account: with(config.Callbacks{WebhookPublic: true})}, true, false},
		"of one, allowed":    {delivery{isWebhook: true, account: with(config.Callbacks{WebhookPublic: true, CallbackURLs: []string{"http://192.0.2.2/"}})}, false, false},
		"allowed":            {delivery{account: with(config.Callbacks{CallbackURLs: []string{"http://192.0.2.2/"}})}, false, false},
		"not allowed":        {delivery{account: with(config.Callbacks{CallbackURLs: []string{"http://192.0.2.3/"}})}, false, true},
		"public, and is not": {delivery{account: with(config.Callbacks{CallbacksTo: config.PublicCallbacks})}, false, true},
	} {
		c.d.request = &httpsms.Call{URL: "http://192.0.2.2/dlr"}
		target, err := c.d.target()
		if target.Trusted != c.trusted || (err != nil) != c.refused {
			t.Errorf("%s: %+v %v", name, target, err)
		}
	}
}
