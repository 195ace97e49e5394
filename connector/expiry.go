package connector

import "pmg/sms"

// A sweep is how far the search for expired messages has come. It goes through
// the rings a part at a time, so that a long backlog does not stop the dispatcher.
type sweep struct {
	ring int
	at   uint64 // number of the entry to go on with
	next int64  // the first expiry among the messages seen so far; 0: none expires
}

// sweepEntries is how many entries are searched at a time, in about 0.3 ms.
const sweepEntries = 100_000

// willExpire notes a message that the queue takes in.
func (q *Queue) willExpire(expires int64) {
	if expires == 0 {
		return
	}
	q.nextExpiry = Earlier(q.nextExpiry, expires)
	q.swept.next = Earlier(q.swept.next, expires)
}

// Earlier returns the earlier of two times, where 0 is never.
func Earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Expired takes out messages that have expired and passes them to f. A message
// that nobody can send keeps no place in the queue, so that others find room.
func (q *Queue) Expired(now int64, f func(*sms.Message)) {
	q.advance(now)
	if q.nextExpiry == 0 || q.nextExpiry >= now {
		return
	}
	for left := sweepEntries; left > 0; {
		if q.swept.ring == priorities {
			q.expireBack(now, f)
			q.nextExpiry = q.swept.next
			q.swept = sweep{}
			return
		}
		left -= q.sweepRing(now, left, f) + 1
	}
}

// sweepRing searches up to limit entries of the ring at hand and returns how many
// those were.
func (q *Queue) sweepRing(now int64, limit int, f func(*sms.Message)) (done int) {
	r, s := &q.rings[q.swept.ring], &q.swept
	s.at = max(s.at, r.start)
	for ; done < limit && s.at-r.start < uint64(r.n); done++ {
		e := r.at(int(s.at - r.start))
		s.at++
		switch {
		case e.message == nil || e.expires == 0:
		case e.expires < now:
			f(e.message)
			e.message = nil
			q.n--
		default:
			s.next = Earlier(s.next, e.expires)
		}
	}
	if s.at-r.start >= uint64(r.n) {
		s.ring, s.at = s.ring+1, 0
	}
	r.trim()
	return done
}

// expireBack searches the messages that came back, which are few.
func (q *Queue) expireBack(now int64, f func(*sms.Message)) {
	var expired []*sms.Message
	q.back.Scan(func(m *sms.Message) bool {
		switch {
		case m.Expires == 0:
		case m.Expires < now:
			expired = append(expired, m)
		default:
			q.swept.next = Earlier(q.swept.next, m.Expires)
		}
		return true
	})
	for _, m := range expired {
		q.back.Delete(m)
		q.n--
		f(m)
	}
}
