package connector

import (
	"unsafe"

	"pmg/sms"
)

// An entry is what the queue knows of a message without looking at it.
type entry struct {
	id        uint64
	due       int64        // its place: the time that orders messages which are due
	wakes     int64        // when a message that waits for its time is looked at
	expires   int64        // 0: never
	message   *sms.Message // nil: its body is on disk, or it was taken out
	priority  uint8
	state     state
	scheduled bool // its body is on disk, and it counts as scheduled
}

// A state is where the body of an entry's message is.
type state uint8

const (
	held   state = iota // in memory
	onDisk              // on disk alone
	asked               // on disk, and it is being read
	loaded              // in memory, read from disk; there it is the same
	gone                // the entry was taken out, and is left in its ring for the order
)

// entrySize is how many octets of memory an entry takes whose body is on disk: its
// ring may be half empty, and so may be the nodes of a tree.
const entrySize = int64(2 * unsafe.Sizeof(entry{}))

// entryOf returns the entry of a message that is in memory.
func entryOf(m *sms.Message) entry {
	return newEntry(Waiting{m.ID, m.Priority, m.Arrived, m.DeliverAt, m.NotBefore, m.Expires}, m)
}

func newEntry(w Waiting, m *sms.Message) entry {
	e := entry{
		id: w.ID, due: max(w.DeliverAt, w.Arrived), expires: w.Expires,
		message: m, priority: min(w.Priority, priorities-1),
	}
	// A message that has expired before it is due is looked at then, because its place
	// is free for another.
	e.wakes = max(e.due, w.NotBefore)
	if e.expires != 0 && e.expires < e.wakes {
		e.wakes = e.expires + 1
	}
	return e
}

// placeFirst reports whether a comes before b where both have the same priority.
func placeFirst(a, b *entry) bool {
	return a.due < b.due || a.due == b.due && a.id < b.id
}

// leavesFirst is the order of messages that are due. A message that was tried in vain
// keeps its place.
func leavesFirst(a, b entry) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.due < b.due || a.due == b.due && a.id < b.id
}

// wakesFirst is the order of messages that wait for their time.
func wakesFirst(a, b entry) bool {
	if a.wakes != b.wakes {
		return a.wakes < b.wakes
	}
	return a.id < b.id
}

// A ring is a first-in-first-out list in an array that grows when it is full. Its
// entries are sorted by their places. Its first and its last entry are not gone.
type ring struct {
	a       []entry // length is a power of two
	head, n int
	start   uint64 // entries that have left: the number of the first one there is
	ahead   uint64 // number of the entry from which on no body was asked for
}

// extend adds an entry at the end, which is the caller's to fill.
func (r *ring) extend() *entry {
	if r.n == len(r.a) {
		r.resize(max(64, 2*len(r.a)))
	}
	r.n++
	return r.last()
}

// take marks the entry as taken out.
func (e *entry) take() { e.message, e.state = nil, gone }

// trim drops entries that are gone from both ends.
func (r *ring) trim() {
	for r.n > 0 && r.first().state == gone {
		r.head = (r.head + 1) & (len(r.a) - 1)
		r.n--
		r.start++
	}
	for r.n > 0 && r.last().state == gone {
		r.n--
	}
	if r.n == 0 && len(r.a) > maxIdleRing {
		*r = ring{start: r.start} // a backlog has gone, and its memory goes too
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

// first and last are of a ring that is not empty.
func (r *ring) first() *entry { return r.at(0) }

func (r *ring) last() *entry { return r.at(r.n - 1) }

// fits reports whether an entry can stand at the end.
func (r *ring) fits(due int64, id uint64) bool {
	if r.n == 0 {
		return true
	}
	last := r.last()
	return last.due < due || last.due == due && last.id <= id
}

// find returns the entry with the id and place of e, nil if it is not there.
func (r *ring) find(e *entry) *entry {
	low, high := 0, r.n
	for low < high {
		if middle := (low + high) / 2; placeFirst(r.at(middle), e) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < r.n {
		if found := r.at(low); found.id == e.id && found.due == e.due && found.state != gone {
			return found
		}
	}
	return nil
}
