package intake

import (
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/sms/fit"
)

// Enter assigns consecutive ids and places to messages of one PDU or one request. Messages that are
// too long for their lanes are replaced by their parts. aside is true if one of the messages waits
// in no lane.
func (i *Intake) Enter(now int64, first keep.Accepted, more []keep.Accepted) (_ keep.Accepted, _ []keep.Accepted, aside bool) {
	if first.Message.Parts > 1 || more != nil {
		first, more = i.checker.split(first, more)
	}
	i.InARow(1 + len(more))
	i.Accept(now, first.Message, first.Share)
	aside = first.Share == nil
	for _, a := range more {
		i.Accept(now, a.Message, a.Share)
		a.Message.Offset = uint16(a.Message.ID - first.Message.ID)
		aside = aside || a.Share == nil
	}
	if first.Message.Parts > 1 {
		i.checker.table.RememberKeyword(first.Message)
	}
	for _, a := range more {
		if a.Message.Parts > 1 && a.Message.Part == 0 {
			i.checker.table.RememberKeyword(a.Message)
		}
	}
	return first, more, aside
}

// Leaves reports whether a stored message goes to its lane now. If it returns false, the message
// was removed, or waits to be joined with others.
func (i *Intake) Leaves(now int64, a keep.Accepted) bool {
	if a.Share == nil {
		i.checker.IsAside(a)
		a.Message.Release() // the message is in the store
		return false
	}
	if a.Share.Lane.Home().Form().Long == fit.Join {
		i.Flush() // the lane may get the whole message before this batch ends
		return !i.checker.Joiner.Join(now, a)
	}
	return true
}

// Undo takes back the acceptance of a message that could not be stored. code is the result of its
// commit.
func (i *Intake) Undo(from *connector.Source, a keep.Accepted, code sms.Code) {
	credit.GiveBack(a.Message, false)
	Retract(from, a.Message)
	if a.Share != nil {
		i.Cancel(a.Message, a.Share)
	} else {
		i.checker.keep.CountAside(a.Message.Origin, a.Aside(), -1)
	}
	if !sms.IsReply(a.Message) {
		from.Connector.Stats.Refused.Add(1)
		a.Message.Origin.Tally.Refuse(code)
	}
	a.Message.Release()
}

// split replaces each message that Fit has found too long by its parts.
func (d *Checker) split(first keep.Accepted, more []keep.Accepted) (keep.Accepted, []keep.Accepted) {
	all := make([]keep.Accepted, 0, len(more)+int(first.Message.Parts)+1)
	all = d.appendParts(all, first)
	for _, a := range more {
		all = d.appendParts(all, a)
	}
	return all[0], all[1:]
}

func (d *Checker) appendParts(all []keep.Accepted, a keep.Accepted) []keep.Accepted {
	m := a.Message
	n := m.Parts
	var parts []*sms.Message
	if n > 1 && a.Share != nil {
		parts = d.convert.Split(a.Share.Lane.Home().Form(), m)
	}
	if parts == nil {
		credit.Alone(m, n)
		m.Parts = 0
		return append(all, a)
	}
	for _, p := range parts {
		all = append(all, keep.Accepted{Message: p, Share: a.Share})
	}
	return all
}
