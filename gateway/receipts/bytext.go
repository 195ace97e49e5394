package receipts

import (
	"pmg/sms"
)

// A text may look like a receipt although its SMSC does not mark it as a receipt. A person may have
// written the text, but persons do not know the ids of our messages. So the text is a receipt if it
// contains the id of a message of ours to the number from which the text comes, whatever
// receipt_match says.

// IsOfLatest reports whether a text is the receipt of one of the latest messages.
func (d *Matcher) IsOfLatest(o *SMSC, m *sms.Message) bool {
	r, ok := m.Report()
	var f Match
	return ok && d.Find(o, m, &r, &f) && isBetween(m, f.Mapping.Dest.Addr)
}

// IsOfOurs reports whether a text is the receipt of any message. It may read the disk.
func (d *Matcher) IsOfOurs(o *SMSC, m *sms.Message) (is bool, failed error) {
	r, ok := m.Report()
	if !ok {
		return false, nil
	}
	o.mu.Lock()
	key, ok := o.keyOf(r.ID)
	key = append([]byte(nil), key...)
	o.mu.Unlock()
	var f Match
	if ok {
		is, failed = d.get(o, key, m, &f)
	} else {
		is, failed = d.getOnly(o, r.ID, m, &f)
	}
	return is && failed == nil && isBetween(m, f.Mapping.Dest.Addr), failed
}

// isBetween reports whether a message to dest went to one of the numbers of a text.
func isBetween(m *sms.Message, dest []byte) bool {
	return sameEnd(m.Source().Addr, dest) || sameEnd(m.Dest().Addr, dest)
}
