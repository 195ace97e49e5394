package queue

import "pmg/sms"

// A sweep is how far the search for expired messages has come. It goes through
// the queue a part at a time, so that a long backlog does not stop the dispatcher.
type sweep struct {
	next int64 // the first expiry among the messages seen so far; 0: none expires
	cursor
	back   Entry // comes before those that came back to go on with
	inBack bool  // back counts: the rings were searched
}

// A cursor is the position of a search through the rings. A search begins at the highest
// priority.
type cursor struct {
	rings int    // rings that were searched
	at    uint64 // number of the next entry
}

// MostExpired is about how many messages Expired takes out in one call at most.
const MostExpired = sweepEntries / sweepExpired

// sweepEntries is how many entries are searched at a time, in about 0.3 ms. One that has expired
// costs as much as sweepExpired, since its end is stored, and its client may get a receipt.
const (
	sweepEntries = 100_000
	sweepExpired = 50
)

// willExpire records the expiry of a message that is added to the queue.
func (q *Queue) willExpire(expires int64) {
	if expires == 0 {
		return
	}
	q.nextExpiry = sms.Earlier(q.nextExpiry, expires)
	q.swept.next = sms.Earlier(q.swept.next, expires)
}

// Expired takes out messages that have expired and passes them to f. A message
// that nobody can send keeps no place in the queue, so that others find room. It reports whether
// it has stopped although more may have expired.
func (q *Queue) Expired(now int64, f func(*Entry)) (more bool) {
	q.advance(now)
	if q.nextExpiry == 0 || q.nextExpiry >= now {
		return false
	}
	left, before := sweepEntries, q.n
	end := q.scan(&q.swept.cursor, &left, func(_ *ring, e *Entry) Verdict {
		if e.Expires == 0 || e.Expires >= now {
			q.swept.next = sms.Earlier(q.swept.next, e.Expires)
			return Stays
		}
		f(e)
		left -= sweepExpired - 1
		return Leaves
	})
	if end && q.expireBack(now, &left, f) {
		q.nextExpiry = q.swept.next
		q.swept = sweep{}
		return false
	}
	return q.n < before
}

// A Verdict is what a search decides about an entry.
type Verdict int

// The verdicts.
const (
	Stays  Verdict = iota // it stays where it is
	Leaves                // it is taken out
	waits                 // the search stops at it, and goes on with it
)

// scan passes entries to take, from the cursor on. It takes away from left what it has
// searched, and stops when nothing is left, or at an entry that waits. It reports
// whether the last ring was searched to its end.
func (q *Queue) scan(c *cursor, left *int, take func(*ring, *Entry) Verdict) (end bool) {
	for *left > 0 && c.rings < ringCount {
		if q.scanRing(c, left, take) {
			return false
		}
	}
	return c.rings == ringCount
}

// scanRing searches the ring at hand, and reports whether it has come to an entry that
// waits.
func (q *Queue) scanRing(c *cursor, left *int, take func(*ring, *Entry) Verdict) (stopped bool) {
	r := q.ring(c.rings)
	c.at = max(c.at, r.start)
	for ; *left > 0 && !stopped && c.at-r.start < uint64(r.n); *left-- {
		e := r.at(int(c.at - r.start))
		c.at++
		if e.state == gone {
			continue
		}
		switch take(r, e) {
		case Leaves:
			q.left(e)
			e.take()
		case waits:
			c.at--
			stopped = true
		}
	}
	if !stopped && c.at-r.start >= uint64(r.n) {
		c.rings, c.at = c.rings+1, 0
	}
	r.trim()
	return stopped
}

// expireBack searches the messages that came back, from where the last call ended, and
// reports whether it has come to their end.
func (q *Queue) expireBack(now int64, left *int, f func(*Entry)) (end bool) {
	var expired []Entry
	s := &q.swept
	end = true
	if !s.inBack {
		s.inBack, s.back = true, Entry{Priority: priorities} // before all others
	}
	q.back.Ascend(s.back, func(e Entry) bool {
		if *left <= 0 {
			end = false
			return false
		}
		*left--
		s.back = e
		s.back.ID++
		switch {
		case e.Expires == 0:
		case e.Expires < now:
			*left -= sweepExpired - 1
			expired = append(expired, e)
		default:
			s.next = sms.Earlier(s.next, e.Expires)
		}
		return true
	})
	for i := range expired {
		e := &expired[i]
		q.back.Delete(*e)
		q.leftBack(e)
		f(e)
	}
	return end
}
