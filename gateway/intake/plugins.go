package intake

import (
	"fmt"

	"pmg/gateway/hooks"
	"pmg/plugin"
	"pmg/sms"
)

func stepPlugins(d *Checker, now int64, s *Submission) Verdict {
	if s.at.hooks == nil {
		if s.at.hooks = d.hooks.All(); len(s.at.hooks) == 0 {
			return Pass
		}
	}
	if s.at.pending != nil {
		decision := s.at.pending
		s.at.pending = nil
		if v := d.decide(now, s, &s.at.hooks[s.at.hook], decision); v != Pass {
			return v
		}
		s.at.hook++
	}
	at := hooks.At(s.Message)
	for ; s.at.hook < len(s.at.hooks) && !s.at.held; s.at.hook++ {
		h := &s.at.hooks[s.at.hook]
		if !h.Asks(at, s.Message.Origin) {
			continue
		}
		_, _, isPart := d.table.PartOf(s.Message)
		q := d.questioner.Ask(at, s.Message, isPart, d.node.Clock.Wall)
		decision, ok := h.Pool.Try(&q.Message)
		if !ok && s.Preview { // a preview does not wait
			if h.Pool.Waits() {
				continue
			}
			decision, ok = h.Pool.Ask(&q.Message), true
		}
		if !ok {
			answer := &plugin.Decision{}
			s.at.pending, s.Work = answer, func() sms.Code { *answer = h.Pool.Ask(&q.Message); return sms.OK }
			s.at.step-- // this step is taken again
			return Later
		}
		v := d.decide(now, s, h, &decision)
		d.questioner.Free(q)
		if v != Pass {
			return v
		}
	}
	return Pass
}

// decide applies a plugin's decision about a message.
func (d *Checker) decide(now int64, s *Submission, h *hooks.Hook, decision *plugin.Decision) Verdict {
	if decision.Failure != nil {
		d.node.NoVerdict(h.Pool.Name, decision.Failure)
	}
	v := &decision.Verdict
	if s.Way&fresh == 0 { // everything else was changed when the original message came
		v.From, v.To, v.Tags, v.Network = nil, nil, nil, ""
	}
	if err := hooks.Change(s.Message, v); err != nil {
		d.node.NoVerdict(h.Pool.Name, fmt.Errorf("plugin %s: %w", h.Pool.Name, err))
		instead := h.Pool.Instead()
		v = &instead
	}
	if other := v.To != nil || s.Message.Kind == sms.MO && v.From != nil; other && v.Network == "" {
		d.Networks.Find(s.Message)
	}
	switch {
	case v.Do == plugin.Refuse || v.Do == plugin.Hold && s.Way&fresh == 0: // the new text of a replacement cannot be held
		s.at.why = v.Why
		return s.refuses(d, now, v.Code(), &d.node.LogLimits.Invalid, "message refused by plugin "+h.Pool.Name+": "+v.Why)
	case v.Do == plugin.Hold:
		d.hold(now, s, h, v.Why)
	case v.Do == plugin.Delay && s.Way&fresh != 0:
		s.Message.DeliverAt = max(s.Message.DeliverAt, v.Until.UnixNano()-d.node.Clock.Ahead())
	}
	return Pass
}
