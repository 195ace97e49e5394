package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"pmg/gateway/webhooks"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Test calls the webhook of an account, or its webhook_fallback, with a test event. It implements
// webhooks.Service.
func (c *Service) Test(ctx context.Context, account string, fallback bool) (t webhooks.Attempt, err error) {
	rooms := &c.rooms
	a := rooms.Options.Account(account)
	if a == nil {
		return t, fmt.Errorf("there is no account %q", account)
	}
	url := a.Webhook
	if fallback {
		url = a.WebhookFallback
	}
	switch {
	case url == "" && fallback:
		return t, fmt.Errorf("account %s has no webhook_fallback", account)
	case url == "":
		return t, fmt.Errorf("account %s has no webhook", account)
	case hasOtherForm(a):
		return t, fmt.Errorf("the form %s (webhook_form) has no test event", a.WebhookForm)
	}
	now := rooms.Node.Clock.WallNow()
	d := delivery{account: a, request: own.Test(url, account, now), id: "test_" + strings.ToLower(rand.Text())}
	if err := d.sign(time.Unix(0, now)); err != nil {
		return t, err
	}
	target, err := webhookTarget(a, url, fallback)
	if err != nil {
		return t, errors.New("the webhook " + notCalled(err))
	}
	o := c.caller.Do(ctx, d.request, target)
	return webhooks.Attempt{
		Endpoint: sms.Endpoint(url), Event: d.id, Type: own.TestType, Number: 1, Taken: o.Code == sms.OK,
		Status: o.Status, Milliseconds: o.Took.Milliseconds(), Error: o.Err, Reply: string(o.Body),
	}, nil
}
