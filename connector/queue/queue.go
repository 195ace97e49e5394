package queue

import (
	"math/bits"

	"github.com/tidwall/btree"

	"pmg/sms"
)

// A Queue holds messages in the order in which they leave: by priority, then delivery time, then
// arrival. It is not safe for concurrent use.
//
// Messages that are due when they come, which is nearly all, wait in one ring per priority: O(1)
// and without allocation, whatever the backlog. Restored messages are older than messages that were
// pushed before them, so they have separate rings. Only messages that come back, or must wait for
// their time, are in B-trees.
//
// The queue holds entries. The body of a message may be on disk.
type Queue struct {
	n        int
	filled   uint8                // bit p: a ring of priority p may hold entries
	restored bool                 // messages were restored, so the rings in older may hold entries
	back     *btree.BTreeG[Entry] // due, but not in the order of arrival
	later    *btree.BTreeG[Entry] // messages that are not due yet

	absent     int   // messages whose bodies are not in memory
	nextExpiry int64 // no message in a ring or in back expires before this time; 0: none expires
	swept      sweep

	rings [priorities]ring
	older [priorities]ring // rings of restored messages

	backOnDisk int // number of entries in back with state onDisk
	backAhead  int // number of entries in back with state beingRead or loaded
	moved      search
}

// priorities is the number of priorities. SMPP 3.4 defines the priorities 0 to 3, SMPP 5.0 adds 4.
const priorities = 5

// Init makes the zero Queue an empty queue.
func (q *Queue) Init() {
	q.back = btree.NewBTreeGOptions(leavesFirst, btree.Options{NoLocks: true})
	q.later = btree.NewBTreeGOptions(wakesFirst, btree.Options{NoLocks: true})
}

// Len returns how many messages wait, due or not.
func (q *Queue) Len() int { return q.n }

// Push adds a message that has just arrived or was moved here from another queue.
func (q *Queue) Push(m *sms.Message, now int64) {
	p, due := min(m.Priority, priorities-1), max(m.DeliverAt, m.Arrived)
	r := &q.rings[p]
	if max(m.DeliverAt, m.NotBefore) > now || !r.fits(due, m.ID) {
		q.push(EntryOf(m), max(m.DeliverAt, m.NotBefore) > now)
		return
	}
	q.n++
	q.willExpire(m.Expires)
	q.filled |= 1 << p
	*r.extend() = Entry{ID: m.ID, Due: due, Expires: m.Expires, Message: m, Priority: p}
}

// push adds the entry of a message that has just arrived. waits is true if the message is not due
// yet.
func (q *Queue) push(e Entry, waits bool) {
	if q.enter(&e, waits) {
		return
	}
	q.filled |= 1 << e.Priority
	if r := &q.rings[e.Priority]; r.fits(e.Due, e.ID) {
		*r.extend() = e
	} else {
		q.putBack(e) // a newer message was pushed before this one
	}
}

// enter counts a message that is added. It returns true if the message is not due yet; then the
// message is put in q.later.
func (q *Queue) enter(e *Entry, waits bool) bool {
	q.n++
	if e.Message == nil {
		q.absent++
	}
	if waits {
		q.later.Set(*e)
	} else {
		q.willExpire(e.Expires)
	}
	return waits
}

// PushOnDisk adds a message that has just arrived, but stores only its entry.
func (q *Queue) PushOnDisk(m *sms.Message, now int64) {
	e := EntryOf(m)
	e.Message, e.state, e.Scheduled = nil, onDisk, m.Flags&sms.Scheduled != 0
	waits := m.DeliverAt > now
	if waits || q.rings[e.Priority].fits(e.Due, e.ID) {
		q.push(e, waits)
	} else {
		q.place(e, e.Due == m.Arrived, false)
	}
}

// Restore adds a message whose body is on disk. Newer messages may have been pushed before.
func (q *Queue) Restore(w Waiting, now int64) {
	e := newEntry(w, nil)
	e.state, e.Scheduled = onDisk, w.DeliverAt > now
	q.place(e, e.Due == w.Arrived, max(w.DeliverAt, w.NotBefore) > now)
}

// place adds a message whose body is on disk to the restored messages. byArrival is true if the
// arrival orders the message, as is usual. Other messages would move the ring's last place so far
// back that later ones do not fit; so they are not put in the ring.
func (q *Queue) place(e Entry, byArrival, waits bool) {
	if q.enter(&e, waits) {
		return
	}
	q.restored = true
	q.filled |= 1 << e.Priority
	if r := &q.older[e.Priority]; byArrival && r.fits(e.Due, e.ID) {
		*r.extend() = e
	} else {
		q.putBack(e)
	}
}

// PushBack returns a popped message to the queue. The message takes its old place after its
// NotBefore.
func (q *Queue) PushBack(m *sms.Message, now int64) {
	if e := EntryOf(m); !q.enter(&e, m.NotBefore > now) {
		q.putBack(e)
	}
}

// putBack adds a due message to q.back, the messages that are not in the order of arrival.
func (q *Queue) putBack(e Entry) {
	q.back.Set(e)
	q.countBack(&e, 1)
}

// leftBack updates the counts for an entry that was taken out of q.back.
func (q *Queue) leftBack(e *Entry) {
	q.countBack(e, -1)
	q.left(e)
}

func (q *Queue) countBack(e *Entry, n int) {
	switch e.state {
	case onDisk:
		q.backOnDisk += n
	case beingRead, loaded:
		q.backAhead += n
	}
}

// left updates the counts for a message that was taken out.
func (q *Queue) left(e *Entry) {
	q.n--
	if e.Message == nil {
		q.absent--
	}
}

// Ready reports whether a message is due. After Ready has returned true, it returns true until Pop,
// even for an earlier time.
func (q *Queue) Ready(now int64) bool {
	q.advance(now)
	return q.n > q.later.Len()
}

// Due returns how many messages are known to be due.
func (q *Queue) Due() int { return q.n - q.later.Len() }

// Absent returns how many messages wait whose bodies are not in memory.
func (q *Queue) Absent() int { return q.absent }

// InFront returns how many due messages with this priority are ahead of a message that is pushed
// now.
func (q *Queue) InFront(priority uint8) int {
	return q.rings[priority].n + q.older[priority].n + q.back.Len()
}

// Pop takes out and returns the message that is to leave next. m is nil if no message is due, or if
// the first one's body is on disk. expires is when the message expires; it is returned because
// after a long wait the message itself is not in the processor's cache.
func (q *Queue) Pop(now int64) (m *sms.Message, expires int64) {
	if q.n == 0 {
		return nil, 0
	}
	q.advance(now)
	r := q.first()
	if q.back.Len() > 0 {
		if e, _ := q.back.Min(); r == nil || leavesFirst(e, *r.first()) {
			if e.Message != nil {
				q.back.PopMin()
				q.leftBack(&e)
			}
			return e.Message, e.Expires
		}
	}
	if r == nil {
		return nil, 0
	}
	e := r.first()
	m, expires = e.Message, e.Expires
	if m != nil {
		q.n--
		e.take()
		r.trim()
	}
	return m, expires
}

// first returns the ring whose first message leaves next. It returns nil if all rings are empty.
func (q *Queue) first() *ring {
	for q.filled != 0 {
		p := bits.Len8(q.filled) - 1
		r := &q.rings[p]
		if o := &q.older[p]; q.restored && o.n > 0 && (r.n == 0 || placeFirst(o.first(), r.first())) {
			return o
		}
		if r.n > 0 {
			return r
		}
		q.filled &^= 1 << p
	}
	return nil
}

// ringCount is the maximum number of rings. Rings are ordered by number: the highest priority
// first, and restored messages before others of the same priority.
const ringCount = 2 * priorities

func (q *Queue) ring(i int) *ring {
	p := priorities - 1 - i/2
	if i%2 == 0 {
		return &q.older[p]
	}
	return &q.rings[p]
}

// advance moves the messages that have become due out of q.later.
func (q *Queue) advance(now int64) {
	for q.later.Len() > 0 {
		if e, _ := q.later.Min(); e.Wakes > now {
			return
		}
		e, _ := q.later.PopMin()
		q.willExpire(e.Expires)
		q.putBack(e)
	}
}

// Hasten makes up to most messages due that wait for another attempt. more is true if further
// messages wait for another attempt. Messages that wait for their delivery time are not changed.
func (q *Queue) Hasten(now int64, most int) (more bool) {
	var due []Entry
	q.later.Scan(func(e Entry) bool {
		if e.Due > now {
			return true
		}
		more = len(due) == most
		if !more {
			due = append(due, e)
		}
		return !more
	})
	for _, e := range due {
		q.later.Delete(e)
		q.willExpire(e.Expires)
		q.putBack(e)
	}
	return more
}

// NextDue returns when the next of the messages that are not due yet becomes due or expires, or 0
// if there is none.
func (q *Queue) NextDue() int64 {
	if e, ok := q.later.Min(); ok {
		return e.Wakes
	}
	return 0
}

// Oldest returns the due time of the first message in the queue's order, or 0 if no message is due.
func (q *Queue) Oldest() int64 {
	var oldest int64
	for i := range ringCount {
		if r := q.ring(i); r.n > 0 {
			oldest = sms.Earlier(oldest, r.first().Due)
		}
	}
	if e, ok := q.back.Min(); ok {
		oldest = sms.Earlier(oldest, e.Due)
	}
	return oldest
}

// Each calls f for every entry. f must not change the queue.
func (q *Queue) Each(f func(*Entry)) {
	for p := range q.rings {
		for _, r := range [...]*ring{&q.rings[p], &q.older[p]} {
			for i := range r.n {
				if e := r.at(i); e.state != gone {
					f(e)
				}
			}
		}
	}
	for _, tree := range [...]*btree.BTreeG[Entry]{q.back, q.later} {
		tree.Scan(func(e Entry) bool {
			f(&e)
			return true
		})
	}
}
