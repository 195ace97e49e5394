package connector

import (
	"github.com/tidwall/btree"

	"pmg/sms"
)

// A Queue holds messages in the order in which they leave: by priority, then delivery
// time, then arrival. It is not safe for concurrent use.
//
// Nearly all messages are due when they arrive. They wait in one ring per priority, with
// operations in O(1) and without allocation, whatever the backlog. Messages that come
// back, or must wait for their time, are in B-trees.
type Queue struct {
	rings [priorities]ring
	back  *btree.BTreeG[*sms.Message] // due, but not in the order of arrival
	later *btree.BTreeG[*sms.Message] // not due yet
	n     int

	nextExpiry int64 // no message in a ring or in back expires before this time; 0: none expires
	swept      sweep
	moved      search
}

// priorities is the number of priorities. SMPP 3.4 has 0 to 3, 5.0 adds 4.
const priorities = 5

func (q *Queue) init() {
	q.back = btree.NewBTreeGOptions(leavesFirst, btree.Options{NoLocks: true})
	q.later = btree.NewBTreeGOptions(dueFirst, btree.Options{NoLocks: true})
}

func priority(m *sms.Message) int { return min(int(m.Priority), priorities-1) }

// place returns the time that orders messages that are due: the time of arrival, unless the
// sender set a delivery time. A message keeps its place after a failed attempt.
func place(m *sms.Message) int64 { return max(m.DeliverAt, m.Arrived) }

func placeFirst(a, b *sms.Message) bool {
	if x, y := place(a), place(b); x != y {
		return x < y
	}
	return a.ID < b.ID
}

func leavesFirst(a, b *sms.Message) bool {
	if x, y := priority(a), priority(b); x != y {
		return x > y
	}
	return placeFirst(a, b)
}

// wakes returns when the queue must handle a message that waits for its time: when it is
// due, or when it expires before that, so that it does not keep its place.
func wakes(m *sms.Message) int64 {
	due := m.Due()
	if m.Expires != 0 && m.Expires < due {
		return m.Expires + 1
	}
	return due
}

func dueFirst(a, b *sms.Message) bool {
	if x, y := wakes(a), wakes(b); x != y {
		return x < y
	}
	return a.ID < b.ID
}

// Len returns how many messages wait, due or not.
func (q *Queue) Len() int { return q.n }

// Push adds a message that has just arrived, or was moved here from another queue.
func (q *Queue) Push(m *sms.Message, now int64) {
	q.n++
	if max(m.DeliverAt, m.NotBefore) > now {
		q.later.Set(m)
		return
	}
	q.willExpire(m.Expires)
	r := &q.rings[priority(m)]
	if r.n > 0 {
		if last := r.last(); last.due > place(m) || last.due == place(m) && last.id > m.ID {
			q.back.Set(m) // another message overtook it on its way here
			return
		}
	}
	r.push(entry{id: m.ID, due: place(m), expires: m.Expires, message: m})
}

// PushBack returns a popped message to the queue. It takes its old place when its
// NotBefore has passed.
func (q *Queue) PushBack(m *sms.Message, now int64) {
	q.n++
	if m.NotBefore > now {
		q.later.Set(m)
		return
	}
	q.willExpire(m.Expires)
	q.back.Set(m)
}

// Ready reports whether Pop returns a message. A queue that was ready stays so
// until Pop, even if a later call has an earlier time, because callers of the
// classic architecture read the clock before they lock.
func (q *Queue) Ready(now int64) bool {
	q.advance(now)
	return q.n > q.later.Len()
}

// due returns how many messages are known to be due.
func (q *Queue) due() int { return q.n - q.later.Len() }

// Pop removes and returns the next message, or nil if none is due. It also returns the
// message's expiry, because with a long backlog the message itself is not in the
// processor's cache.
func (q *Queue) Pop(now int64) (m *sms.Message, expires int64) {
	if q.n == 0 {
		return nil, 0
	}
	q.advance(now)
	for p := priorities - 1; p >= 0; p-- {
		if q.rings[p].n > 0 {
			return q.pop(&q.rings[p])
		}
	}
	return q.pop(nil)
}

// advance moves the messages whose time has come to their places.
func (q *Queue) advance(now int64) {
	for q.later.Len() > 0 {
		m, _ := q.later.Min()
		if wakes(m) > now {
			return
		}
		q.later.PopMin()
		q.willExpire(m.Expires)
		q.back.Set(m)
	}
}

// pop removes and returns the first message of r and q.back.
func (q *Queue) pop(r *ring) (m *sms.Message, expires int64) {
	if q.back.Len() > 0 {
		m, _ := q.back.Min()
		if r == nil || leavesFirst(m, r.first().message) {
			q.back.PopMin()
			q.n--
			return m, m.Expires
		}
	}
	if r == nil {
		return nil, 0
	}
	q.n--
	e := r.pop()
	return e.message, e.expires
}

// NextDue returns when the next message becomes due or expires that is not due yet, or 0
// if there is none.
func (q *Queue) NextDue() int64 {
	if m, ok := q.later.Min(); ok {
		return wakes(m)
	}
	return 0
}

// Oldest returns when the first message in order was due, or 0 if none is due.
func (q *Queue) Oldest() int64 {
	var oldest int64
	older := func(due int64) {
		if oldest == 0 || due < oldest {
			oldest = due
		}
	}
	for p := range q.rings {
		if r := &q.rings[p]; r.n > 0 {
			older(r.first().due)
		}
	}
	if m, ok := q.back.Min(); ok {
		older(place(m))
	}
	return oldest
}

// An entry holds a message, and a copy of the fields that the queue needs, so that it need
// not read the message.
type entry struct {
	id           uint64
	due, expires int64
	message      *sms.Message // nil: the message has expired and was removed
}

// A ring is a first-in-first-out list in an array that grows when it is full.
// Its first and its last entry have a message.
type ring struct {
	a       []entry // length is a power of two
	head, n int
	start   uint64 // number of the first entry, which is how many entries were removed
}

func (r *ring) push(e entry) {
	if r.n == len(r.a) {
		r.resize(max(64, 2*len(r.a)))
	}
	*r.at(r.n) = e
	r.n++
}

func (r *ring) pop() entry {
	e := r.a[r.head]
	r.a[r.head].message = nil
	r.trim()
	return e
}

// trim drops entries without a message from both ends.
func (r *ring) trim() {
	for r.n > 0 && r.first().message == nil {
		r.head = (r.head + 1) & (len(r.a) - 1)
		r.n--
		r.start++
	}
	for r.n > 0 && r.last().message == nil {
		r.n--
	}
	if r.n == 0 && len(r.a) > maxIdleRing {
		*r = ring{start: r.start} // frees the memory of a backlog
	}
}

// maxIdleRing is the largest ring that an empty queue keeps.
const maxIdleRing = 1 << 10

func (r *ring) resize(size int) {
	a := make([]entry, size)
	n := copy(a, r.a[r.head:])
	copy(a[n:], r.a[:r.head])
	r.a, r.head = a, 0
}

func (r *ring) at(i int) *entry { return &r.a[(r.head+i)&(len(r.a)-1)] }

// first and last return the first and last entry of a ring that is not empty.
func (r *ring) first() *entry { return r.at(0) }

func (r *ring) last() *entry { return r.at(r.n - 1) }
