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

// entrySize is how many octets of memory an entry takes at most whose body is on disk:
// the nodes of a tree may be half empty.
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

// unload takes the body out of memory of an entry that has one, and returns it. It is on disk.
func (e *entry) unload() *sms.Message {
	m := e.message
	e.message, e.state = nil, onDisk
	return m
}

// isLoaded reports whether the body was read from disk, where it is the same.
func (e *entry) isLoaded() bool { return e.state == loaded }

// isAsked reports whether the body is being read.
func (e *entry) isAsked() bool { return e.state == asked }

// ask has the body of an entry read that is on disk alone. It reports false if ask does.
func (e *entry) ask(ask func(*entry) bool) bool {
	switch {
	case e.state != onDisk:
	case !ask(e):
		return false
	default:
		e.state = asked
	}
	return true
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

// A ring is a first-in-first-out list of entries, sorted by their places. Its first and
// its last entry are not gone. It lies in chunks, so that a long one grows without
// copying, and gives its memory back as it gets shorter.
type ring struct {
	n          int
	start      uint64   // entries that have left: the number of the first one there is
	head, tail *chunk   // with the first and the last entry
	chunks     []*chunk // all: entry number i is in chunks[i/chunkSize], modulo the length, a power of two
	spare      *chunk   // the last one that became empty
	ahead      uint64   // number of the entry from which on no body was asked for
}

const chunkSize = 64

type chunk [chunkSize]entry

// extend adds an entry at the end, which is the caller's to fill.
func (r *ring) extend() *entry {
	number := r.start + uint64(r.n)
	if number%chunkSize == 0 || r.n == 0 {
		r.tail = r.grow(number / chunkSize)
		if r.n == 0 {
			r.head = r.tail
		}
	}
	r.n++
	return &r.tail[number%chunkSize]
}

// grow returns the chunk with that number, for the entry that is to be the last.
func (r *ring) grow(number uint64) *chunk {
	if number-r.start/chunkSize >= uint64(len(r.chunks)) {
		r.resize()
	}
	c := r.chunk(number)
	if *c == nil {
		*c, r.spare = r.spare, nil
		if *c == nil {
			*c = &chunk{}
		}
	}
	return *c
}

// chunk returns where the chunk with that number is.
func (r *ring) chunk(number uint64) **chunk { return &r.chunks[number&uint64(len(r.chunks)-1)] }

// resize makes room for more chunks.
func (r *ring) resize() {
	old := *r
	r.chunks = make([]*chunk, max(4, 2*len(r.chunks)))
	for i := range uint64(len(old.chunks)) {
		number := r.start/chunkSize + i
		*r.chunk(number) = *old.chunk(number)
	}
}

// take marks the entry as taken out.
func (e *entry) take() { e.message, e.state = nil, gone }

// trim drops entries that are gone from both ends.
func (r *ring) trim() {
	for r.n > 0 && r.first().state == gone {
		r.n--
		if r.start++; r.start%chunkSize == 0 {
			c := r.chunk(r.start/chunkSize - 1)
			r.spare, *c = *c, nil
			r.head = *r.chunk(r.start / chunkSize)
		}
	}
	for r.n > 0 && r.last().state == gone {
		if r.n--; (r.start+uint64(r.n))%chunkSize == 0 {
			r.tail = *r.chunk((r.start + uint64(r.n) - 1) / chunkSize)
		}
	}
	if r.n == 0 && len(r.chunks) > maxIdleChunks {
		*r = ring{start: r.start} // a backlog has gone, and its memory goes too
	}
}

// maxIdleChunks is for how many chunks an empty ring keeps room.
const maxIdleChunks = 16

func (r *ring) at(i int) *entry {
	number := r.start + uint64(i)
	return &(*r.chunk(number / chunkSize))[number%chunkSize]
}

// first and last are of a ring that is not empty.
func (r *ring) first() *entry { return &r.head[r.start%chunkSize] }

func (r *ring) last() *entry { return &r.tail[(r.start+uint64(r.n)-1)%chunkSize] }

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
