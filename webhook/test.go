package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Test calls the webhook of an account, or its webhook_fallback, with an event that tells nothing. It implements
// webhooks.TestFunc.
func (c *Service) Test(ctx context.Context, account string, fallback bool) (t webhooks.Attempt, err error) {
	g := c.gateway
	a := g.Table.Account(account)
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
		return t, fmt.Errorf("the form %s (webhook_form) has no such call", a.WebhookForm)
	}
	request := own.Test(url, account, g.Node.Clock.WallNow())
	id := "test_" + strings.ToLower(rand.Text())
	header, err := httpcall.Sign(strings.Fields(a.WebhookKey), id, time.Unix(0, g.Node.Clock.WallNow()), request.Body)
	if err != nil {
		return t, errors.New("webhook_key: " + err.Error())
	}
	request.Header = append(request.Header, header...)
	o := c.caller.Do(ctx, request, httpcall.Target{Trusted: true})
	return webhooks.Attempt{
		Endpoint: sms.Endpoint(url), Event: id, Type: own.TestType, Number: 1, Taken: o.Code == sms.OK,
		Status: o.Status, Milliseconds: o.Took.Milliseconds(), Error: o.Err, Reply: string(o.Body),
	}, nil
}
