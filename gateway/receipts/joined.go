package receipts

import (
	"pmg/sms"
	"pmg/store"
)

// receivers returns the ids for which the client gets a receipt with this state. known is the id of
// the message itself, or 0 if it gets no receipt. others are the ids of the messages from which it
// was joined.
func receivers(f *store.Mapping, s sms.State) (known uint64, others []uint64) {
	submitted, _ := sms.ReadSubmitted(f.Submitted)
	if len(submitted.Joined) == 0 {
		if wants(f.Notify, s) {
			known = f.KnownID()
		}
		return known, nil
	}
	for _, j := range submitted.Joined {
		switch {
		case !wants(j.Notify, s):
		case known == 0:
			known = j.ID
		default:
			others = append(others, j.ID)
		}
	}
	return known, others
}

// addressAll converts m to the receipt r of a message, for its id known, and returns copies for the
// other ids. The copies are not counted in the gateway yet. r may point into m.
func (d *Matcher) addressAll(
	now int64, m *sms.Message, f *store.Mapping, r *sms.Report, known uint64, others []uint64,
) (more []*sms.Message) {
	for _, id := range others {
		other := d.node.Messages.Copy(m)
		d.address(now, other, f, r, id)
		more = append(more, other)
	}
	d.address(now, m, f, r, known)
	return more
}
