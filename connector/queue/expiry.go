package queue

import "pmg/sms"

// A sweep is the progress of the search for expired messages. Each call searches only a part of the
// queue, so that a long backlog does not block the dispatcher.
type sweep struct {
	next int64 // the earliest expiry of the messages searched so far; 0: none of them expires
	cursor
	back   Entry // the search of the messages that came back continues after this entry
	inBack bool  // back is valid: the rings were already searched
}

// A cursor is the position of a search through the rings. A search begins at the highest
// priority.
type cursor struct {
	rings int    // number of rings already searched
	at    uint64 // number of the next entry
}

// MostExpired is about how many messages one call of Expired takes out at most.
const MostExpired = sweepEntries / sweepExpired

// sweepEntries is how many entries are searched at a time, which takes about 0.3 ms. An expired
// entry costs as much as sweepExpired other entries, because its end is stored and its client may
// get a receipt.
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

// Expired takes out messages that have expired, and calls f for each. So messages that cannot be
// sent any more make room for others. more is true if the search stopped early and further messages
// may have expired.
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

// A Verdict is the decision of a search about an entry.
type Verdict int

// The verdicts.
const (
	Stays  Verdict = iota // the entry stays in its place
	Leaves                // the entry is taken out
	waits                 // the search stops at the entry, and continues with it later
)

// scan passes entries to take, beginning at the cursor. It subtracts the number of searched entries
// from left. It stops when left is 0, or at an entry with the verdict waits. end is true if all
// rings were searched.
func (q *Queue) scan(c *cursor, left *int, take func(*ring, *Entry) Verdict) (end bool) {
	for *left > 0 && c.rings < ringCount {
		if q.scanRing(c, left, take) {
			return false
		}
	}
	return c.rings == ringCount
}

// scanRing searches the cursor's current ring, and reports whether it stopped at an entry with the
// verdict waits.
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

// expireBack searches the messages that came back, from where the last call stopped. end is true if
// all of them were searched.
func (q *Queue) expireBack(now int64, left *int, f func(*Entry)) (end bool) {
	var expired []Entry
	s := &q.swept
	end = true
	if !s.inBack {
		s.inBack, s.back = true, Entry{Priority: priorities} // an entry that comes before all other entries
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
