package webhook

import (
	"fmt"
	"strings"
	"time"

	"pmg/config"
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A delivery is a call with an event for a client, or with several.
type delivery struct {
	account   *config.Account
	isWebhook bool // the URL is the account's, and not the URL of a message
	fallback  bool // the URL is webhook_fallback
	request   *httpsms.Call
	id        string // id of the event, for the signature; empty: the call is not signed
	reply     *reply // receives the answer; nil: the answer is not used
}

// deliver calls the URL for the event of a message.
func (c *courier) deliver(a *config.Account, m *sms.Message) httpcall.Outcome {
	e, end := c.service.events.Of(c.lane, m)
	defer end()
	d := &delivery{account: a, isWebhook: e.Context.URL == ""}
	url := e.Context.URL
	if d.isWebhook {
		url, d.fallback = c.choose(a)
	}
	if !d.write(c.service.dialects, e, url) {
		return httpcall.Outcome{Code: sms.OK}
	}
	if e.Context.Dialect == httpsms.Own {
		d.id = EventID(m)
	}
	target, err := d.target()
	if err != nil {
		// an operator may allow the URL later
		o := httpcall.Outcome{Code: sms.TemporaryFailure, Err: notCalled(err)}
		c.record(o, d, m, e)
		return c.refused(m, e, o)
	}
	httpcall.AddTrace(d.request, c.service.rooms.Tracer.Traceparent(m))
	o := c.call(d, target)
	c.service.events.Log(c.lane, m, e, d.request, o)
	c.record(o, d, m, e)
	return c.follows(d, m, e, o)
}

// write writes the request for an event to a URL. It reports false if no call exists for the event.
func (d *delivery) write(all dialects, e *httpsms.Event, url string) (ok bool) {
	if d.isWebhook {
		e.Context.URL, e.Context.Dialect = url, httpsms.Own
	}
	if d.isWebhook && hasOtherForm(d.account) {
		d.request, d.reply, ok = all.inForm(d.account, url, e)
	} else {
		d.request, ok = all.call(e)
	}
	return ok
}

// target returns the addresses that the URL may lead to, or the reason why the account's messages may no longer name the URL.
func (d *delivery) target() (httpcall.Target, error) {
	if d.isWebhook {
		return webhookTarget(d.account, d.request.URL, d.fallback)
	}
	return httpcall.Allowed(d.account.CallbackURLs, d.account.CallbacksTo == config.PublicCallbacks, d.request.URL)
}

// notCalled returns the error of a URL that may not be called.
func notCalled(err error) string { return "is not called: the URL " + err.Error() }

// webhookTarget returns the addresses that the webhook of an account may lead to, or its fallback: any that an operator has
// chosen, and public ones that a customer has.
func webhookTarget(a *config.Account, url string, fallback bool) (httpcall.Target, error) {
	if !a.WebhookPublic || fallback {
		return httpcall.Target{Trusted: true}, nil
	}
	return httpcall.Allowed(a.CallbackURLs, true, url)
}

// sign adds the signature of the delivery, if the delivery is signed.
func (d *delivery) sign(now time.Time) error {
	if d.id == "" {
		return nil
	}
	header, err := httpcall.Sign(strings.Fields(d.account.WebhookKey), d.id, now, d.request.Body)
	if err != nil {
		return fmt.Errorf("webhook_key: %w", err)
	}
	d.request.Header = append(d.request.Header, header...)
	return nil
}

// call makes the call, and records how the server has answered.
func (c *courier) call(d *delivery, target httpcall.Target) httpcall.Outcome {
	o := c.send(d, target)
	if d.isWebhook {
		c.came(d.account, &o, d.fallback)
	}
	return o
}

// send signs and makes the call.
func (c *courier) send(d *delivery, target httpcall.Target) httpcall.Outcome {
	if err := d.sign(time.Unix(0, c.service.rooms.Node.Clock.WallNow())); err != nil {
		return httpcall.Outcome{Code: sms.TemporaryFailure, Err: err.Error()}
	}
	c.server.Begin()
	o := c.service.caller.Do(c.service.group, d.request, target)
	c.server.End(webhooks.Result{Taken: o.Code == sms.OK, Counted: o.Code.Retryable(), Error: o.Err, Fallback: d.fallback})
	return o
}

// follows handles the consequences of a delivery: it sends the server's reply, or warns the operator.
func (c *courier) follows(d *delivery, m *sms.Message, e *httpsms.Event, o httpcall.Outcome) httpcall.Outcome {
	switch {
	case o.Code == sms.OK && d.reply != nil:
		c.answers(m, e, d.reply)
	case o.Code != sms.OK && c.service.group.Err() == nil:
		c.refused(m, e, o)
	}
	return o
}

// statusOf returns the status of an answer, or httpsms.NoAnswer.
func statusOf(o httpcall.Outcome) uint32 {
	if o.Status == 0 {
		return httpsms.NoAnswer
	}
	return uint32(o.Status)
}
