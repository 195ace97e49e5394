package webhook

import (
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// tried has operators see an attempt to tell what a message says, also in its trace.
func (c *courier) tried(o httpcall.Outcome, second bool, m *sms.Message, e *httpsms.Event) {
	c.service.gateway.Settler.Told(m, o.Took, o.Status, o.Err)
	c.server.Tried(webhooks.Attempt{
		Event: EventID(m), ID: sms.FormatID(e.ID), Type: own.TypeOf(e), Number: max(1, int(m.Sends)), Taken: o.Code == sms.OK,
		Status: o.Status, Milliseconds: o.Took.Milliseconds(), Error: o.Err, Reply: string(o.Body), Fallback: second,
	})
}

// refused tells the operator that a server does not take what it is told, now and then.
func (c *courier) refused(m *sms.Message, e *httpsms.Event, o httpcall.Outcome) httpcall.Outcome {
	g := c.service.gateway
	if g.Node.News.Is("call: " + c.lane.Account + " " + c.lane.Endpoint) {
		g.Node.Log.Warn().Str("account", c.lane.Account).Str("endpoint", c.lane.Endpoint).Str("id", sms.FormatID(e.ID)).
			Int("status", o.Status).Int64("waiting", c.lane.Queued.Load()).Int("attempts", int(m.Attempts)+1).
			Msg("a client's server was not told what became of a message: " + c.lane.Endpoint + " " + o.Err)
	}
	return o
}
