package webhook

import (
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// record adds an attempt to the attempts that operators see, and to the trace of the message.
func (c *courier) record(o httpcall.Outcome, d *delivery, m *sms.Message, e *httpsms.Event) {
	c.service.rooms.Tracer.Told(m, o.Took, o.Status, o.Err)
	c.server.Tried(webhooks.Attempt{
		Event: EventID(m), ID: sms.FormatID(e.ID), Type: own.TypeOf(e), Number: max(1, int(m.Sends)), Taken: o.Code == sms.OK,
		Status: o.Status, Milliseconds: o.Took.Milliseconds(), Error: o.Err, Reply: string(o.Body), Fallback: d.fallback,
	})
}

// refused warns the operator, at a limited rate, that a server does not accept an event.
func (c *courier) refused(m *sms.Message, e *httpsms.Event, o httpcall.Outcome) httpcall.Outcome {
	rooms := &c.service.rooms
	if rooms.Node.Repeats.First("call: " + c.lane.Account + " " + c.lane.Endpoint) {
		rooms.Node.Log.Warn().Str("account", c.lane.Account).Str("endpoint", c.lane.Endpoint).Str("id", sms.FormatID(e.ID)).
			Int("status", o.Status).Int64("waiting", c.lane.Queued.Load()).Int("attempts", int(m.Attempts)+1).
			Msg("a webhook did not take an event: " + c.lane.Endpoint + " " + o.Err)
	}
	return o
}
