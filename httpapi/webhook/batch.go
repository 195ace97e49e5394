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

// A batch is the events of one call.
type batch struct {
	at       []int // index of each message in slots
	messages []*sms.Message
	about    []*httpsms.Event
	events   []own.Event
}

// add adds the event of a message. It reports false if the event goes to another URL than the webhook; such
// events are sent one by one.
func (b *batch) add(c *courier, i int, m *sms.Message) bool {
	e, end := c.service.events.Of(c.lane, m)
	defer end()
	if e.Context.URL != "" || hasOtherForm(c.account()) {
		return false
	}
	event := own.EventOf(e)
	event.ID = EventID(m)
	b.at, b.messages, b.about, b.events = append(b.at, i), append(b.messages, m), append(b.about, e), append(b.events, event)
	return true
}

// id returns the id of a batch. Only batches with the same events have the same id, because a repeated call may have more or
// fewer events.
func (b *batch) id() string {
	h := sha256.New()
	for i := range b.events {
		h.Write([]byte(b.events[i].ID))
	}
	return "bat_" + hex.EncodeToString(h.Sum(nil)[:12])
}

// deliverAll calls the webhook of an account for a batch.
func (c *courier) deliverAll(a *config.Account, b *batch) httpcall.Outcome {
	d := &delivery{account: a, isWebhook: true, id: b.id()}
	url, fallback := c.choose(a)
	d.fallback, d.request = fallback, own.TellAll(url, c.service.rooms.Node.Clock.WallNow(), b.events)
	target, err := webhookTarget(a, url, fallback)
	o := httpcall.Outcome{}
	if err == nil {
		o = c.call(d, target)
	} else {
		o = httpcall.Outcome{Code: sms.TemporaryFailure, Err: notCalled(err)}
	}
	for i, m := range b.messages {
		c.service.events.Log(c.lane, m, b.about[i], d.request, o)
		c.record(o, d, m, b.about[i])
	}
	return c.follows(d, b.messages[0], b.about[0], o)
}
