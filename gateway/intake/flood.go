package intake

import (
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/sms"
	"pmg/sms/number"
)

// flooding is a bit of sms.Message.Claim, beside the claim of Duplicates. It is set if the limits
// of Flood have counted the message.
const flooding = 1 << 31

// stepFlood comes after the step for duplicates, so that duplicates do not count.
func stepFlood(d *Checker, now int64, s *Submission) Verdict {
	client := s.From.Account
	if client == nil {
		return Pass
	}
	f := client.Flood()
	if f == nil {
		return Pass
	}
	m, why := s.Message, ""
	if s.Preview {
		why = f.Refuses(m.Arrived, number.Of(m.Dest()))
	} else if why = f.Take(m.Arrived, number.Of(m.Dest())); why == "" {
		m.Claim |= flooding
	}
	if why == "" {
		return Pass
	}
	return s.refuses(d, now, sms.Throttled, &d.node.LogLimits.Fast, why)
}

// Retract undoes the effects of a submitted message that is not accepted: the reservation of money,
// the claim for duplicates, and the counts of flood limits. So the message is no duplicate and is
// counted only once if it is submitted again.
func Retract(from *connector.Source, m *sms.Message) {
	credit.GiveBack(m, true)
	if m.Claim == 0 || m.Part != 0 || from == nil || from.Account == nil {
		return
	}
	if f := from.Account.Flood(); f != nil && m.Claim&flooding != 0 {
		f.GiveBack(m.Arrived, number.Of(m.Dest()))
	}
	if w := from.Account.Duplicates(); w != nil {
		w.GiveBack(m.Arrived, m.Claim&^flooding)
	}
	m.Claim = 0
}
