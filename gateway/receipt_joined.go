package gateway

import (
	"pmg/sms"
	"pmg/store"
)

// receivers returns the ids of a client that get a receipt with a state: first the id of the message
// itself, or 0 if that gets none, then the ids of the messages that it was joined from.
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
func (g *Gateway) addressAll(now int64, m *sms.Message, f *store.Mapping, r *sms.Report, known uint64, others []uint64) (more []*sms.Message) {
	for _, id := range others {
		other := g.Messages.Copy(m)
		g.address(now, other, f, r, id)
		more = append(more, other)
	}
	g.address(now, m, f, r, known)
	return more
}

// wish has a message that was joined ask for what its parts ask for.
func wish(whole *sms.Message, parts []*sms.Message) {
	var joined []sms.Joined
	for _, m := range parts {
		if m.Notify != 0 {
			joined = append(joined, sms.Joined{ID: m.KnownID(), Notify: m.Notify})
		}
	}
	if len(joined) < 2 { // the one that asks has the id of the whole
		return
	}
	s, ok := whole.Submitted()
	if !ok {
		s.Source, s.Dest = whole.Source(), whole.Dest()
	}
	s.Joined = joined
	whole.SetSubmitted(&s)
	for _, j := range joined {
		whole.Notify |= j.Notify
	}
}
