package connector

import "github.com/tidwall/btree"

// Find calls f for the messages with these ids that wait in the lane, and says of each
// what Remove needs. It looks at every entry, so it is for the few whose times are not
// known, because the wall clock was set since they came.
func (l *Lane) Find(ids map[uint64]bool, f func(s *Share, w Waiting)) {
	l.Shares(func(s *Share) {
		s.queue.each(func(e *entry) {
			if ids[e.id] {
				f(s, Waiting{ID: e.id, Priority: e.priority, Arrived: e.due, NotBefore: e.wakes, Expires: e.expires})
			}
		})
	})
	for _, suspect := range l.suspects.waiting {
		if ids[suspect.message.ID] {
			f(suspect.share, Waiting{ID: suspect.message.ID})
		}
	}
}

// each calls f for every entry. f must not change the queue.
func (q *Queue) each(f func(*entry)) {
	for p := range q.rings {
		for _, r := range [...]*ring{&q.rings[p], &q.older[p]} {
			for i := range r.n {
				if e := r.at(i); e.state != gone {
					f(e)
				}
			}
		}
	}
	for _, tree := range [...]*btree.BTreeG[entry]{q.back, q.later} {
		tree.Scan(func(e entry) bool {
			f(&e)
			return true
		})
	}
}
