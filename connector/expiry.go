package connector

import "pmg/sms"

// A sweep is the state of a search for expired messages. The search goes through the
// rings in parts, so that a long backlog does not stop the dispatcher.
type sweep struct {
	cursor
	next int64 // the first expiry among the messages seen so far; 0: none expires
}

// A cursor is the position of a search through the rings. A search begins at the highest
// priority.
type cursor struct {
	rings int    // rings that were searched
	at    uint64 // number of the next entry
}

// sweepEntries is how many entries are searched at a time, in about 0.3 ms.
const sweepEntries = 100_000

// willExpire notes the expiry of a message that is added to the queue.
func (q *Queue) willExpire(expires int64) {
	if expires == 0 {
		return
	}
	q.nextExpiry = Earlier(q.nextExpiry, expires)
	q.swept.next = Earlier(q.swept.next, expires)
}

// Earlier returns the earlier of two times, where 0 means never.
func Earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Expired removes messages that have expired and passes them to f, so that a message that
// cannot be sent does not keep its place in the queue.
func (q *Queue) Expired(now int64, f func(*sms.Message)) {
	q.advance(now)
	if q.nextExpiry == 0 || q.nextExpiry >= now {
		return
	}
	left := sweepEntries
	end := q.scan(&q.swept.cursor, &left, func(e *entry) bool {
		if e.expires == 0 || e.expires >= now {
			q.swept.next = Earlier(q.swept.next, e.expires)
			return false
		}
		f(e.message)
		return true
	})
	if end {
		q.expireBack(now, f)
		q.nextExpiry = q.swept.next
		q.swept = sweep{}
	}
}

// scan calls take for entries with a message, from the cursor on, and removes those for
// which take returns true. It subtracts the number of searched entries from left, and
// stops when that is 0. It reports whether it has reached the end of the last ring.
func (q *Queue) scan(c *cursor, left *int, take func(*entry) bool) (end bool) {
	for *left > 0 && c.rings < priorities {
		*left -= q.scanRing(c, *left, take) + 1
	}
	return c.rings == priorities
}

// scanRing searches up to limit entries of the cursor's ring and returns their number.
func (q *Queue) scanRing(c *cursor, limit int, take func(*entry) bool) (done int) {
	r := &q.rings[priorities-1-c.rings]
	c.at = max(c.at, r.start)
	for ; done < limit && c.at-r.start < uint64(r.n); done++ {
		e := r.at(int(c.at - r.start))
		c.at++
		if e.message != nil && take(e) {
			e.message = nil
			q.n--
		}
	}
	if c.at-r.start >= uint64(r.n) {
		c.rings, c.at = c.rings+1, 0
	}
	r.trim()
	return done
}

// expireBack searches the messages that came back. They are few.
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
