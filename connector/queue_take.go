package connector

import "pmg/sms"

// A search is the state of a search for messages to move. It goes through the queue in
// parts, first through the messages that came back, which are older than the others.
type search struct {
	back   sms.Message // position after the last searched message of Queue.back; only its order is used
	inBack bool        // the search of Queue.back has begun, so back is valid
	cursor
	inRings bool // Queue.back was searched, and the rings follow

	inVain bool // no message of the parts searched so far could be moved
	again  bool // the search has begun again, because a later message could be moved
}

// takeDue calls take for messages that are due, from the end of the last call on, and
// removes those for which take returns true. It subtracts the number of searched messages
// from left, and stops when that is 0. It reports whether it has reached the end; the
// next call begins again then. take must not change the messages.
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

// takeBack does the same for the messages that came back.
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
		from := s.back // a copy, because search changes s.back
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

// takeLater calls take for messages that wait for their time, and removes up to limit for
// which take returns true. It reports whether there are no more of those.
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

// searchAgain makes the next call of takeDue begin again.
func (q *Queue) searchAgain() { q.moved = search{again: true} }
