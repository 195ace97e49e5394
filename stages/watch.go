package stages

import (
	"time"

	"pmg/connector"
	"pmg/flow"
	"pmg/protocols"
	"pmg/sms"
)

// look lets every session do what is due by its timers, and tells when to look again.
func (b *builder) look(out *flow.Out[Job]) time.Duration {
	j := out.Get()
	unanswered := func(slot *connector.Slot) {
		j := out.Get()
		j.Kind, j.Slot, j.Code = Answered, slot, sms.Timeout
		out.To(toDispatcher, j)
	}
	for _, c := range b.Gateway.Connectors() {
		c.Links(func(l *connector.Link) {
			h := handle(l)
			if h.Over || h.Ended {
				return
			}
			a := b.Gateway.Look(out.Now(), l, j.pdu(c), unanswered)
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
	return b.Gateway.LookEvery()
}
