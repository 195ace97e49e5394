package intake

import (
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/sms"
	"pmg/sms/number"
)

// flooding is what sms.Message.Claim has besides the claim of Duplicates, if the message was counted by the limits of Flood.
const flooding = 1 << 31

// stepFlood is taken behind the duplicates, which do not count.
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

// Retract takes back what is reserved of its account's money, and what the policies of that have reserved of a submitted message
// that is not accepted, so that it is no duplicate, and does not count, when it is submitted again.
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
