package webhook

import (
	"pmg/config"
	"pmg/internal/httpcall"
	"pmg/sms"
)

// A choice is the state that selects one of an account's webhooks. The caller's lock guards it.
type choice struct {
	away     int64 // until this time of the engine's clock webhook_fallback is called instead of webhook
	failures int   // consecutive failures of webhook_fallback
	tried    bool  // webhook was called last; used while webhook and fallback fail
}

// choose returns the URL for an event that names no URL: webhook, or webhook_fallback while webhook rests.
// After the rest, one call tries webhook again.
func (c *courier) choose(a *config.Account) (url string, second bool) {
	if a.WebhookFallback == "" {
		return a.Webhook, false
	}
	failures, disabled, now := c.server.Failures(), c.server.IsDisabled(), c.service.rooms.Node.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if disabled || now < c.choice.away {
		return a.WebhookFallback, true
	}
	if failures >= failuresRest {
		if c.choice.failures >= failuresRest && c.choice.tried { // both fail, and are called in turn
			c.choice.tried = false
			return a.WebhookFallback, true
		}
		c.choice.tried = true
		c.choice.away = now + int64(rest*c.lane.Config().ThrottlePause)
	}
	return a.Webhook, false
}

// came records the outcome of a call of webhook, or with second of webhook_fallback.
func (c *courier) came(a *config.Account, o *httpcall.Outcome, second bool) {
	c.mu.Lock()
	switch {
	case second && o.Code == sms.OK:
		c.choice.failures = 0
	case second && o.Code.Retryable():
		c.choice.failures++
	case second:
	case o.Code == sms.OK:
		c.choice.away = 0
	case o.RetryAfter > 0 && a.WebhookFallback != "": // the pause that webhook asked for does not apply to webhook_fallback
		c.choice.away = max(c.choice.away, c.service.rooms.Node.Clock.Now()+int64(o.RetryAfter))
		o.RetryAfter = 0
	}
	c.mu.Unlock()
	if o.Gone && !second && !hasOtherForm(a) && c.server.Disable() {
		c.service.rooms.Node.Log.Error().Str("account", c.lane.Account).Str("endpoint", c.lane.Endpoint).
			Bool("fallback", a.WebhookFallback != "").
			Int64("waiting", c.lane.Queued.Load()).Msg(
			"a client's webhook has answered 410 Gone: it is not called any more until pmg webhooks enable, a reload or " +
				"a restart; its events wait, or go to webhook_fallback",
		)
		c.Follow()
	}
}

// isResting reports whether neither the webhook nor webhook_fallback is called for a while.
func (c *courier) isResting() bool {
	if c.server.Failures() < failuresRest {
		return false
	}
	a := c.account()
	c.mu.Lock()
	defer c.mu.Unlock()
	return a == nil || a.WebhookFallback == "" || c.choice.failures >= failuresRest
}

// retryAtOnce is the number of a lane's events that become due in one round of the dispatcher.
const retryAtOnce = 1000

// Retry implements webhooks.Caller: events that wait for another attempt are due now, and the server no longer rests.
func (c *courier) Retry() {
	c.mu.Lock()
	c.choice.away = 0
	c.mu.Unlock()
	var turn func(now int64)
	turn = func(now int64) {
		if c.lane.Retry(now, retryAtOnce) {
			c.service.engine.Do(c.lane, turn)
		}
	}
	c.service.engine.Do(c.lane, turn)
}

// Follow implements webhooks.Caller: the lane sends waiting events, unless the server is disabled and has no fallback.
func (c *courier) Follow() {
	c.service.engine.Do(c.lane, func(int64) {
		a := c.account()
		gives := !c.server.IsDisabled() || a != nil && a.WebhookFallback != ""
		switch {
		case !gives:
			c.worker.Shut()
		case !c.worker.IsOpen():
			c.worker.Open(c, atATime*most(a))
		}
	})
}
