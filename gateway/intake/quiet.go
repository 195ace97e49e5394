package intake

import (
	"pmg/config"
	"pmg/sms"
	"pmg/sms/number"
)

// stepQuiet is taken behind the rules for addresses, because the zone is that of the number, and before the validity is set,
// which is counted from the delivery time. A delayed message takes no place in a queue, but one of those that its
// account may schedule.
func stepQuiet(d *Checker, now int64, s *Submission) Verdict {
	m, a := s.Message, d.optionsOf(s)
	if a == nil || a.QuietHours() == nil {
		return Pass
	}
	if p := a.Policies.Quiet.ExceptPriority; p > 0 && int(m.Priority) >= p {
		return Pass
	}
	ahead := d.node.Clock.Ahead()
	if s.Way == Replaced {
		ahead = 0 // the times are already by the wall clock
	}
	at := max(now, m.DeliverAt)
	end := a.QuietHours().End(at+ahead, number.Of(m.Dest())) - ahead
	if end == at {
		return Pass
	}
	if m.Expires != 0 && m.Expires <= end {
		return s.invalid(
			d, now, sms.BadValidity,
			"message refused: its recipient has quiet hours (quiet), and its validity ends before they do: ",
		)
	}
	m.DeliverAt = end
	if d.isBeyond(s) {
		return s.tooLate(d, now, sms.QueueFull)
	}
	return Pass
}

// optionsOf returns the options of the account that submits a message or replaces its text. It
// returns nil if there is no account.
func (d *Checker) optionsOf(s *Submission) *config.Account {
	if s.From != nil && s.From.Account != nil {
		return s.From.Account.Config()
	}
	return d.table.Account(s.Message.Origin.Account)
}
