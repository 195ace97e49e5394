package connector

import (
	"slices"
	"sync"
	"sync/atomic"

	"pmg/connector/queue"
	"pmg/sms"
)

// Queues holds the waiting messages of a lane: the shares of the accounts with their queues, the
// order of their turns, and the bodies that are only on disk (paging.go). Queues knows nothing of
// sessions. The lane ends the messages that have expired.
type Queues struct {
	lane   *Lane
	oldest atomic.Int64  // due time of the message that has waited longest; 0: no message waits
	unfit  atomic.Uint64 // the highest id of the messages that may not fit the peer

	mu       sync.Mutex
	shares   []*Share
	byOrigin map[*sms.Origin]*Share // the shares by origin, for each origin that Share was called with

	// The fields below belong to the lane's dispatching goroutine.
	rotation []*Share  // shares with due messages, in the order of their turns
	nextDue  int64     // no message in any share becomes due before this time; 0: no message waits for its time
	waiting  int       // messages in the shares' queues
	suspects []suspect // messages that are sent alone; they wait outside of the shares' queues
	unknown  timeouts  // messages whose requests were not answered in time, by id
	paging   paging
}

// Share returns the share of an origin's account in the lane. If the share is new, it may take
// percent of the free room. Share is safe for concurrent use.
func (q *Queues) Share(o *sms.Origin, percent int) *Share {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.byOrigin[o]; s != nil {
		return s
	}
	for _, s := range q.shares {
		if s.Origin == o || o.IsClient() && s.Origin.Account == o.Account {
			q.byOrigin[o] = s
			return s
		}
	}
	s := &Share{Lane: q.lane, Origin: o}
	s.queue.Init()
	s.SetPercent(percent)
	q.shares = append(q.shares, s)
	q.byOrigin[o] = s
	return s
}

// Shares calls f for every share. It is safe for concurrent use.
func (q *Queues) Shares(f func(*Share)) {
	q.mu.Lock()
	shares := q.shares // shares are only added, never removed
	q.mu.Unlock()
	for _, s := range shares {
		f(s)
	}
}

// Oldest returns the due time of the message that has waited longest, or 0 if no message waits. It
// is safe for concurrent use.
func (q *Queues) Oldest() int64 { return q.oldest.Load() }

// Push adds an accepted message to a share. The lane may release the message immediately if its
// body can be read from disk again.
func (q *Queues) Push(now int64, s *Share, m *sms.Message) {
	if !s.isCrowded() || !q.pageOut(now, s, m) {
		s.push(m, now)
	}
}

// waits records that a share has another message, and puts the share in the rotation if the message
// is due.
func (q *Queues) waits(s *Share, now int64) {
	q.waiting++
	if !s.active {
		q.takeTurn(s, now)
	}
}

// takeTurn puts a share that may have a due message in the rotation.
func (q *Queues) takeTurn(s *Share, now int64) {
	if s.active {
		return
	}
	if s.queue.Ready(now) {
		s.active = true
		q.rotation = append(q.rotation, s)
		return
	}
	q.nextDue = sms.Earlier(q.nextDue, s.queue.NextDue())
}

// ready reports whether a message is due.
func (q *Queues) ready(now int64) bool {
	if q.nextDue != 0 && q.nextDue <= now {
		q.wake(now)
	}
	return len(q.rotation) > 0
}

// wake puts the shares whose messages have become due in the rotation.
func (q *Queues) wake(now int64) {
	q.nextDue = 0
	q.Shares(func(s *Share) { q.takeTurn(s, now) })
}

// pop takes out the next message. The shares take turns. If the body of a share's first message is
// on disk, m is nil, and the share gets no turn until Loaded is called.
func (q *Queues) pop(now int64) (s *Share, m *sms.Message, expires int64) {
	s = q.rotation[0]
	m, expires = s.queue.Pop(now)
	if s.queue.Absent() > 0 {
		q.readAhead(s)
	}
	if m != nil {
		q.waiting--
	}
	switch {
	case m == nil || !s.queue.Ready(now):
		s.active = false
		q.nextDue = sms.Earlier(q.nextDue, s.queue.NextDue())
		q.rotation = q.rotation[:copy(q.rotation, q.rotation[1:])]
	case len(q.rotation) > 1:
		copy(q.rotation, q.rotation[1:])
		q.rotation[len(q.rotation)-1] = s
	}
	if m != nil {
		s.isDue(m)
	}
	return s, m, expires
}

// due returns how many messages are due.
func (q *Queues) due() int {
	n := len(q.suspects)
	for _, s := range q.rotation {
		n += s.queue.Due()
	}
	return n
}

// Len returns how many messages wait, due or not.
func (q *Queues) Len() int { return q.waiting + len(q.suspects) + q.paging.ending }

// expire ends the messages of a share that have expired. more is true if further messages may have
// expired.
func (q *Queues) expire(now int64, s *Share) (more bool) {
	if q.lane.policy.Settler.Halted(now) {
		return false
	}
	return s.queue.Expired(now, func(e *queue.Entry) {
		q.waiting--
		if e.Message == nil {
			q.expiresOnDisk(s, e)
			return
		}
		s.isDue(e.Message)
		q.lane.expired(now, s, e.Message)
	})
}

// rest takes a share out of the rotation if none of its messages is due.
func (q *Queues) rest(s *Share, now int64) {
	if s.active && !s.queue.Ready(now) {
		s.active = false
		q.nextDue = sms.Earlier(q.nextDue, s.queue.NextDue())
		q.rotation = slices.DeleteFunc(q.rotation, func(other *Share) bool { return other == s })
	}
}

// Unfit records that messages with ids up to id may not fit the lane's peer, because they were
// accepted for another peer or for other options. Any goroutine may call it.
func (q *Queues) Unfit(id uint64) {
	for {
		last := q.unfit.Load()
		if id <= last || q.unfit.CompareAndSwap(last, id) {
			return
		}
	}
}

// MayBeUnfit reports whether Unfit was called with this id or a higher one. Any goroutine may call
// it.
func (q *Queues) MayBeUnfit(id uint64) bool { return id <= q.unfit.Load() }
