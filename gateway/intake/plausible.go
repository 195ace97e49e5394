package intake

import (
	"pmg/config"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/plan"
)

// international is the type of number (TON) of a number with a country code.
const international = 1

// stepPlausible is taken behind the rules for addresses, which make international numbers of others, and before the plugins,
// whose look-ups may cost money. A number that is not international is not looked at.
func stepPlausible(d *Checker, now int64, s *Submission) Verdict {
	a := d.optionsOf(s)
	if a == nil || a.Policies.Recipients != config.PlausibleRecipients {
		return Pass
	}
	to := s.Message.Dest()
	n := number.Of(to)
	if n.Kind() != number.International && to.TON != international && !number.HasPlus(to) {
		return Pass
	}
	why := plan.Refuses(n.Octets())
	if why == "" {
		return Pass
	}
	s.at.why = why
	return s.invalid(d, now, sms.BadDestination, "message refused: its recipient "+why+" (recipients): ")
}
