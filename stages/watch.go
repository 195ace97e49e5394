package stages

import (
	"fmt"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/flow"
	"pmg/protocols"
	"pmg/sms"
)

// lookEvery is how often the builder looks at every session's timers; more often
// where a timer is short.
const (
	lookEvery    = time.Second
	lookAtLeast  = 10 * time.Millisecond
	looksPerTime = 10 // so late a timer may be: a tenth
)

// look lets every session do what is due by its timers: ask whether the peer
// lives, give up on answers and on half PDUs.
func (b *builder) look(out *flow.Out[Job]) time.Duration {
	every := lookEvery
	pduTimeout := b.Gateway.Config().Limits.PDUTimeout
	j := out.Get()
	for _, c := range b.Gateway.Connectors() {
		cfg := c.Config()
		every = shortest(every, cfg, pduTimeout)
		c.Links(func(l *connector.Link) {
			h := handle(l)
			if h.Over || h.Ended {
				return
			}
			b.overdue(out, h, cfg)
			if since := h.Partial.Load(); since != 0 && out.Now()-since > int64(pduTimeout) {
				h.Ended = true
				hangup(out, h, fmt.Sprintf("cannot read PDU: not complete after %s", pduTimeout))
				return
			}
			a := h.Session.Tick(out.Now(), j.pdu(c))
			if a.Kind == protocols.None {
				return
			}
			j.retain(h) // not over, so the reader's reference is there
			out.CountRef()
			b.act(out, j, a)
			j = out.Get()
		})
	}
	out.Release(j)
	return every
}

// shortest is the time until the next look, so that no timer is late by much.
func shortest(every time.Duration, cfg *config.Connector, more ...time.Duration) time.Duration {
	for _, d := range append(more, cfg.BindTimeout, cfg.EnquireInterval, cfg.ResponseTimeout, cfg.IdleMax, cfg.QueueWait) {
		if d > 0 {
			every = min(every, max(d/looksPerTime, lookAtLeast))
		}
	}
	return every
}

// overdue gives up on answers that did not come in time. The session goes on:
// whether it lives is for enquire_link to say.
func (b *builder) overdue(out *flow.Out[Job], h *connector.Handle, cfg *config.Connector) {
	h.Inflight.Overdue(out.Now()-int64(cfg.ResponseTimeout), func(slot *connector.Slot) {
		b.Log.Warn().Str("connector", cfg.Name).Int("instance", h.Instance.Number).Uint32("sequence", slot.Sequence).
			Dur("after", cfg.ResponseTimeout).Msg("no answer to a message")
		j := out.Get()
		j.Kind, j.Slot, j.Code = Answered, slot, sms.Timeout
		out.To(toDispatcher, j)
	})
}
