package connector

import "pmg/sms"

// A search is how far the search for messages to be moved has come. It goes through
// the queue a part at a time, first through the messages that came back, which are
// older than the others.
type search struct {
	back   sms.Message // comes before those to go on with; only what orders it counts
	inBack bool        // back counts: the search has begun there
	cursor
	inRings bool // the messages that came back were searched

	inVain bool // no message could be moved in the parts that were searched
	again  bool // it has begun anew, because a message could then
}

// takeDue passes messages that are due to take, from where the last call ended, and
// takes out those for which it reports true. It takes away from left what it has
// searched, and stops when nothing is left. It reports whether it has come to the
// end; the next call begins anew. take must leave the messages as they are.
func (q *Queue) takeDue(now int64, left *int, take func(*sms.Message) bool) (end bool) {
	q.advance(now)
	s := &q.moved
	if !s.inRings && !q.takeBack(left, take) {
		return false
	}
	s.inRings = true
	if !q.scan(&s.cursor, left, func(e *entry) bool { return take(e.message) }) {
		return false
	}
	*s = search{}
	return true
}

// takeBack does so for the messages that came back.
func (q *Queue) takeBack(left *int, take func(*sms.Message) bool) (end bool) {
	s := &q.moved
	var taken []*sms.Message
	end = true
	search := func(m *sms.Message) bool {
		if *left <= 0 {
			end = false
			return false
		}
		*left--
		s.inBack = true
		s.back = sms.Message{Priority: m.Priority, Arrived: place(m), ID: m.ID + 1}
		if take(m) {
			taken = append(taken, m)
		}
		return true
	}
	if s.inBack {
		from := s.back // which search changes
		q.back.Ascend(&from, search)
	} else {
		q.back.Scan(search)
	}
	for _, m := range taken {
		q.back.Delete(m)
	}
	q.n -= len(taken)
	return end
}

// takeLater passes messages that wait for their time to take, and takes out up to
// limit for which it reports true. It reports whether there are no more of those.
func (q *Queue) takeLater(left *int, take func(*sms.Message) bool) (end bool) {
	var taken []*sms.Message
	end = true
	q.later.Scan(func(m *sms.Message) bool {
		if *left <= 0 {
			end = false
			return false
		}
		if take(m) {
			*left--
			taken = append(taken, m)
		}
		return true
	})
	for _, m := range taken {
		q.later.Delete(m)
	}
	q.n -= len(taken)
	return end
}

// searchAgain makes the next call of takeDue begin anew.
func (q *Queue) searchAgain() { q.moved = search{again: true} }
