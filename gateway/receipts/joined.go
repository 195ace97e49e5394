package receipts

import (
	"pmg/sms"
	"pmg/store"
)

// receivers returns the client's ids that get a receipt with a state: first that of the message
// itself (0: it gets none), then those of the messages that it was joined from.
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

// addressAll makes m the receipt r of a message that the client knows by an id, and returns copies
// for the other ids, which are no messages of the gateway yet. r may point into m.
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
