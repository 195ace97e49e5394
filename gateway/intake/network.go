package intake

import (
	"bytes"
	"time"

	"pmg/gateway/hooks"
	"pmg/plugin"
	"pmg/plugin/answers"
	"pmg/sms"
	"pmg/sms/number"
)

// stepNetwork finds the network of a message by the table, and then by the plugins that know
// better. Their answer about a number is cached, so that they are asked only once for a while.
func stepNetwork(d *Checker, now int64, s *Submission) Verdict {
	if s.at.hooks == nil {
		d.Networks.Find(s.Message)
		if s.at.hooks = d.hooks.All(); len(s.at.hooks) == 0 {
			return Pass
		}
	}
	to := number.Of(s.Message.Dest())
	key, ok := answers.KeyOf(to.Digits())
	if ok = ok && s.Way == Submitted && to.IsInternational(); !ok {
		return Pass
	}
	for ; s.at.hook < len(s.at.hooks); s.at.hook++ {
		h := &s.at.hooks[s.at.hook]
		if !h.Asks(plugin.Network, s.Message.Origin) || !h.IsAbout(to) {
			continue
		}
		answer := s.at.answer
		if answer == nil {
			known, ok := h.Answers.Known(key, now)
			if answer = &known; !ok {
				if s.Preview {
					continue
				}
				d.lookUp(now, s, h, key)
				s.at.step-- // this step is taken again
				return Later
			}
		}
		if s.at.answer = nil; answer.Code != sms.OK {
			s.at.why = answer.Why
			return s.refuses(
				d, now, answer.Code, &d.node.LogLimits.Invalid,
				"message refused by plugin "+h.Pool.Name+", because of its recipient: "+answer.Why,
			)
		}
		if answer.Network != 0 {
			s.Message.Network = answer.Network
		}
		if answer.Held {
			d.hold(now, s, h, answer.Why)
			break
		}
	}
	s.at.hook = 0 // reset for the step plugins
	return Pass
}

// lookUp makes a submission wait for the answer about its number.
func (d *Checker) lookUp(now int64, s *Submission, h *hooks.Hook, key uint64) {
	m := s.Message
	q := &plugin.Message{
		Hook: plugin.Network, To: number.Of(m.Dest()).String(), ToTON: 1, Network: string(m.Network.Append(nil)),
		Arrived: time.Unix(0, d.node.Clock.Wall(m.Arrived)).UTC(),
	}
	answer := &answers.Answer{}
	s.at.answer = answer
	s.Work = func() sms.Code {
		*answer = h.Answers.Ask(key, now, func() answers.Answer { return d.answerOf(h, m.Origin.Account, q) })
		if answer.Failure != nil {
			d.node.NoVerdict(h.Pool.Name, answer.Failure)
		}
		return sms.OK
	}
}

// answerOf asks a plugin about a number.
func (d *Checker) answerOf(h *hooks.Hook, account string, q *plugin.Message) answers.Answer {
	decision := h.Pool.AskFor(account, q)
	v := &decision.Verdict
	a := answers.Answer{Why: v.Why, Keep: time.Duration(v.Keep) * time.Second, Failure: decision.Failure}
	switch {
	case v.Do == plugin.Refuse:
		a.Code = v.Code()
	case v.Do == plugin.Hold:
		a.Held = true
	}
	if v.Network != "" {
		a.Network, _ = sms.ReadNetwork(v.Network)
	} else if v.RoutingNumber != "" {
		a.Network = d.Networks.OfRouting(bytes.TrimPrefix([]byte(v.RoutingNumber), []byte{'+'}))
	}
	return a
}

// hold puts a message aside for an operator, as a plugin wants.
func (d *Checker) hold(now int64, s *Submission, h *hooks.Hook, why string) {
	s.at.held = true
	sms.SetMark(s.Message, sms.Held, h.Pool.Name)
	d.LogRefused(now, s.From, &d.node.LogLimits.Held, "message held by plugin "+h.Pool.Name+": "+why)
}
