package connector

import (
	"github.com/tidwall/btree"

	"pmg/sms"
)

// A Queue holds a connector's messages in the order in which they are to leave:
// by priority, then delivery time, then arrival. It is not safe for concurrent use.
//
// Messages that are due when they come, which is nearly all, wait in one ring
// per priority: O(1) and without allocation, whatever the backlog. Only messages
// that come back, or must wait for their time, live in B-trees.
type Queue struct {
	rings [priorities]ring
	back  *btree.BTreeG[*sms.Message] // due, but not in the order of arrival
	later *btree.BTreeG[*sms.Message] // not due yet
	n     int
}

// priorities is how many are told apart; SMPP 3.4 has 0 to 3, 5.0 adds 4.
const priorities = 5

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	q := &Queue{}
	q.back = btree.NewBTreeGOptions(leavesFirst, btree.Options{NoLocks: true})
	q.later = btree.NewBTreeGOptions(dueFirst, btree.Options{NoLocks: true})
	return q
}

func priority(m *sms.Message) int { return min(int(m.Priority), priorities-1) }

// due is the delivery time that orders messages: arrival, unless it is set.
func due(m *sms.Message) int64 { return max(m.DeliverAt, m.Arrived) }

func dueFirst(a, b *sms.Message) bool {
	if x, y := due(a), due(b); x != y {
		return x < y
	}
	return a.ID < b.ID
}

func leavesFirst(a, b *sms.Message) bool {
	if x, y := priority(a), priority(b); x != y {
		return x > y
	}
	return dueFirst(a, b)
}

// Len is how many messages wait, due or not.
func (q *Queue) Len() int { return q.n }

// Push adds a message that has just arrived.
func (q *Queue) Push(m *sms.Message, now int64) {
	q.n++
	if m.DeliverAt > now {
		q.later.Set(m)
		return
	}
	r := &q.rings[priority(m)]
	if r.n > 0 && dueFirst(m, r.last().m) {
		q.back.Set(m) // overtaken on its way here
		return
	}
	r.push(m)
}

// PushBack returns a message that was popped to its place; with notBefore after
// now, that place is only taken then.
func (q *Queue) PushBack(m *sms.Message, now, notBefore int64) {
	q.n++
	if notBefore > now {
		m.DeliverAt = notBefore
		q.later.Set(m)
		return
	}
	q.back.Set(m)
}

// Ready tells whether Pop would give a message.
func (q *Queue) Ready(now int64) bool {
	if q.n == q.later.Len() {
		due := q.NextDue()
		return due != 0 && due <= now
	}
	return true
}

// Pop takes the message that is to leave next, nil when none is due, and tells when
// it expires: behind a long backlog, the message itself is not in the cache.
func (q *Queue) Pop(now int64) (m *sms.Message, expires int64) {
	if q.n == 0 {
		return nil, 0
	}
	for q.later.Len() > 0 {
		m, _ := q.later.Min()
		if m.DeliverAt > now {
			break
		}
		q.later.PopMin()
		q.back.Set(m)
	}
	for p := priorities - 1; p >= 0; p-- {
		if q.rings[p].n > 0 {
			return q.pop(&q.rings[p])
		}
	}
	return q.pop(nil)
}

// pop takes the first of r and of what came back.
func (q *Queue) pop(r *ring) (m *sms.Message, expires int64) {
	if q.back.Len() > 0 {
		m, _ := q.back.Min()
		if r == nil || leavesFirst(m, r.first().m) {
			q.back.PopMin()
			q.n--
			return m, m.Expires
		}
	}
	if r == nil {
		return nil, 0
	}
	q.n--
	w := r.pop()
	return w.m, w.expires
}

// NextDue tells when the first message that is not due yet becomes so; 0 if there is none.
func (q *Queue) NextDue() int64 {
	if m, ok := q.later.Min(); ok {
		return m.DeliverAt
	}
	return 0
}

// Oldest is when the first message in order arrived; 0 when none is due.
func (q *Queue) Oldest() int64 {
	var oldest int64
	older := func(arrived int64) {
		if oldest == 0 || arrived < oldest {
			oldest = arrived
		}
	}
	for p := range q.rings {
		if r := &q.rings[p]; r.n > 0 {
			older(r.first().arrived)
		}
	}
	if m, ok := q.back.Min(); ok {
		older(m.Arrived)
	}
	return oldest
}

// A ring is a first-in-first-out list in an array that grows when it is full.
type ring struct {
	a       []waiting // length is a power of two
	head, n int
}

// A waiting message, and what is asked of it while it waits.
type waiting struct {
	m                *sms.Message
	arrived, expires int64
}

func (r *ring) push(m *sms.Message) {
	if r.n == len(r.a) {
		r.resize(max(64, 2*len(r.a)))
	}
	r.a[(r.head+r.n)&(len(r.a)-1)] = waiting{m, m.Arrived, m.Expires}
	r.n++
}

func (r *ring) pop() waiting {
	w := r.a[r.head]
	r.a[r.head].m = nil
	r.head = (r.head + 1) & (len(r.a) - 1)
	r.n--
	if r.n == 0 && len(r.a) > maxIdleRing {
		*r = ring{} // a backlog has gone; let its memory go too
	}
	return w
}

// maxIdleRing is the largest ring an empty queue keeps.
const maxIdleRing = 1 << 16

func (r *ring) resize(size int) {
	a := make([]waiting, size)
	n := copy(a, r.a[r.head:])
	copy(a[n:], r.a[:r.head])
	r.a, r.head = a, 0
}

// first and last are of a ring that is not empty.
func (r *ring) first() *waiting { return &r.a[r.head] }

func (r *ring) last() *waiting { return &r.a[(r.head+r.n-1)&(len(r.a)-1)] }
