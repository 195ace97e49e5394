package lists

import (
	"pmg/sms"
	"pmg/sms/number"
)

// A Refusal is the reason why a message is refused.
type Refusal struct {
	Code sms.Code // OK: the message is not refused
	Why  string
}

// Screens reports whether an account or a connector has lists.
func (l *Lists) Screens() bool { return l.inUse.Load().screens }

// Screen reports whether lists of the account and of the connector that a message comes from refuse
// it. If count is true, each list that contains the number counts the message.
func (l *Lists) Screen(m *sms.Message, count bool) Refusal {
	o := l.inUse.Load()
	source := number.Of(m.Source())
	whom, whose := source, "sender"
	if m.Kind != sms.MO {
		whom, whose = number.Of(m.Dest()), "recipient"
	}
	for _, r := range [...]*rules{o.accounts[m.Origin.Account], o.connectors[m.Origin.Connector]} {
		if r == nil {
			continue
		}
		if on := find(r.block, whom, count); on != nil {
			code := sms.Blocked
			if on.byMobile {
				code = sms.OptedOut
			}
			return Refusal{code, "its " + whose + " is on list " + on.name + " (block)"}
		}
		if len(r.allow) > 0 && find(r.allow, whom, count) == nil {
			return Refusal{sms.Blocked, "its " + whose + " is on none of the lists of allow"}
		}
		if len(r.senders) > 0 && find(r.senders, source, count) == nil {
			return Refusal{sms.BadSource, "its sender is on none of the lists of senders"}
		}
	}
	return Refusal{}
}

// find returns the first list that contains a number, or nil.
func find(all []*list, n number.Number, count bool) *list {
	for _, one := range all {
		if !one.numbers.Has(n) {
			continue
		}
		if count {
			one.numbers.Hit()
		}
		return one
	}
	return nil
}
