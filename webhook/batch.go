package webhook

import (
	"crypto/sha256"
	"encoding/hex"

	"pmg/config"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// A batch is what a webhook is told in one call.
type batch struct {
	at       []int // places of the messages among the slots
	messages []*sms.Message
	about    []*httpsms.Event
	events   []own.Event
}

// add adds what a message tells. It reports false if that is for another URL than the webhook, which is called for each.
func (b *batch) add(c *courier, i int, m *sms.Message) bool {
	e, end := c.service.events.Of(c.lane, m)
	defer end()
	if e.Context.URL != "" || hasOtherForm(c.service.gateway.Table.Account(c.lane.Account)) {
		return false
	}
	event := own.EventOf(e)
	event.ID = EventID(m)
	b.at, b.messages, b.about, b.events = append(b.at, i), append(b.messages, m), append(b.about, e), append(b.events, event)
	return true
}

// id returns an id that another batch has only if it tells the same: a repeated one may tell more, or less.
func (b *batch) id() string {
	h := sha256.New()
	for i := range b.events {
		h.Write([]byte(b.events[i].ID))
	}
	return "bat_" + hex.EncodeToString(h.Sum(nil)[:12])
}

// tellAll calls the webhook of an account about a batch.
func (c *courier) tellAll(a *config.Account, b *batch) httpcall.Outcome {
	url, second := c.choose(a)
	request := own.TellAll(url, c.service.gateway.Node.Clock.WallNow(), b.events)
	o := c.call(a, request, httpcall.Target{Trusted: true}, b.id(), second)
	c.came(a, &o, second)
	for i, m := range b.messages {
		c.service.events.Log(c.lane, m, b.about[i], request, o)
		c.tried(o, second, m, b.about[i])
	}
	if o.Code != sms.OK && c.service.ctx.Err() == nil {
		return c.refused(b.messages[0], b.about[0], o)
	}
	return o
}
