package queue

import (
	"unsafe"

	"pmg/sms"
)

// Waiting is what the queue knows of a message whose body is on disk.
type Waiting struct {
	ID                                     uint64
	Priority                               uint8
	Arrived, DeliverAt, NotBefore, Expires int64 // as in sms.Message
}

// An Entry is what the queue knows of a message without looking at it.
type Entry struct {
	ID        uint64
	Due       int64        // its place: the time that orders messages which are due
	Wakes     int64        // when a message that waits for its time is looked at
	Expires   int64        // 0: never
	Message   *sms.Message // nil: its body is on disk, or it was taken out
	Priority  uint8
	state     state
	Scheduled bool // its body is on disk, and it counts as scheduled
}

// A state is where the body of an entry's message is.
type state uint8

const (
	inMemory  state = iota // in memory, as it came
	onDisk                 // on disk alone
	beingRead              // on disk, and it is being read
	loaded                 // in memory, read from disk; there it is the same
	gone                   // the entry was taken out, and is left in its ring for the order
)

// EntrySize is how many octets of memory an entry takes at most whose body is on disk:
// the nodes of a tree may be half empty.
const EntrySize = int64(2 * unsafe.Sizeof(Entry{}))

// EntryOf returns the entry of a message that is in memory.
func EntryOf(m *sms.Message) Entry {
	return newEntry(Waiting{m.ID, m.Priority, m.Arrived, m.DeliverAt, m.NotBefore, m.Expires}, m)
}

// Key returns the entry by which the queue finds a message.
func Key(w Waiting) Entry { return newEntry(w, nil) }

func newEntry(w Waiting, m *sms.Message) Entry {
	e := Entry{
		ID: w.ID, Due: max(w.DeliverAt, w.Arrived), Expires: w.Expires,
		Message: m, Priority: min(w.Priority, priorities-1),
	}
	// A message that has expired before it is due is looked at then, because its place
	// is free for another.
	e.Wakes = max(e.Due, w.NotBefore)
	if e.Expires != 0 && e.Expires < e.Wakes {
		e.Wakes = e.Expires + 1
	}
	return e
}

// Unload takes the body out of memory of an entry that has one, and returns it. It is on disk.
func (e *Entry) Unload() *sms.Message {
	m := e.Message
	e.Message, e.state = nil, onDisk
	return m
}

// IsLoaded reports whether the body was read from disk, where it is the same.
func (e *Entry) IsLoaded() bool { return e.state == loaded }

// IsBeingRead reports whether the body is being read.
func (e *Entry) IsBeingRead() bool { return e.state == beingRead }

// ask begins to read the body of an entry that is on disk alone. It reports false if the argument
// does.
func (e *Entry) ask(ask func(*Entry) bool) bool {
	switch {
	case e.state != onDisk:
	case !ask(e):
		return false
	default:
		e.state = beingRead
	}
	return true
}

// take marks the entry as taken out.
func (e *Entry) take() { e.Message, e.state = nil, gone }

// absent returns 1 where the body is not in memory.
func (e *Entry) absent() int {
	if e.Message == nil {
		return 1
	}
	return 0
}

// placeFirst reports whether a comes before b where both have the same priority.
func placeFirst(a, b *Entry) bool {
	return a.Due < b.Due || a.Due == b.Due && a.ID < b.ID
}

// leavesFirst is the order of messages that are due. A message that was tried in vain
// keeps its place.
func leavesFirst(a, b Entry) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Due < b.Due || a.Due == b.Due && a.ID < b.ID
}

// wakesFirst is the order of messages that wait for their time.
func wakesFirst(a, b Entry) bool {
	if a.Wakes != b.Wakes {
		return a.Wakes < b.Wakes
	}
	return a.ID < b.ID
}
