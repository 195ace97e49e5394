package queue

import (
	"unsafe"

	"pmg/sms"
)

// Waiting holds what the queue knows about a message whose body is on disk.
type Waiting struct {
	ID                                     uint64
	Priority                               uint8
	Arrived, DeliverAt, NotBefore, Expires int64 // as in sms.Message
}

// An Entry holds what the queue needs to know about a message whose body may be on disk.
type Entry struct {
	ID        uint64
	Due       int64        // the time that orders due messages
	Wakes     int64        // when a message that is not due yet is examined
	Expires   int64        // 0: the message never expires
	Message   *sms.Message // nil: the body is on disk, or the message was taken out
	Priority  uint8
	state     state
	Scheduled bool // the body is on disk, and the message counts as scheduled
}

// A state says where the body of an entry's message is.
type state uint8

const (
	inMemory  state = iota // the body is in memory, unchanged since it arrived
	onDisk                 // the body is only on disk
	beingRead              // the body is on disk, and being read
	loaded                 // the body was read from disk into memory; the copy on disk is identical
	gone                   // the entry was taken out, and stays in its ring only to keep the order
)

// EntrySize is the maximum memory of an entry whose body is on disk, in octets. Nodes of a tree may
// be half empty.
const EntrySize = int64(2 * unsafe.Sizeof(Entry{}))

// EntryOf returns the entry of a message that is in memory.
func EntryOf(m *sms.Message) Entry {
	return newEntry(Waiting{m.ID, m.Priority, m.Arrived, m.DeliverAt, m.NotBefore, m.Expires}, m)
}

// Key returns an entry with which the queue can find a message.
func Key(w Waiting) Entry { return newEntry(w, nil) }

func newEntry(w Waiting, m *sms.Message) Entry {
	e := Entry{
		ID: w.ID, Due: max(w.DeliverAt, w.Arrived), Expires: w.Expires,
		Message: m, Priority: min(w.Priority, priorities-1),
	}
	// A message that expires before it is due is examined at its expiry, because its place is free for
	// another message.
	e.Wakes = max(e.Due, w.NotBefore)
	if e.Expires != 0 && e.Expires < e.Wakes {
		e.Wakes = e.Expires + 1
	}
	return e
}

// Unload releases the body of an entry from memory, and returns it. The body is also on disk.
func (e *Entry) Unload() *sms.Message {
	m := e.Message
	e.Message, e.state = nil, onDisk
	return m
}

// IsLoaded reports whether the body was read from disk. The copy on disk is identical.
func (e *Entry) IsLoaded() bool { return e.state == loaded }

// IsBeingRead reports whether the body is being read.
func (e *Entry) IsBeingRead() bool { return e.state == beingRead }

// ask calls the function ask to read a body that is only on disk. It returns false if the function
// returns false.
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

// take marks the entry as taken out of the queue.
func (e *Entry) take() { e.Message, e.state = nil, gone }

// absent returns 1 if the body is not in memory, and otherwise 0.
func (e *Entry) absent() int {
	if e.Message == nil {
		return 1
	}
	return 0
}

// placeFirst reports whether a comes before b. Both have the same priority.
func placeFirst(a, b *Entry) bool {
	return a.Due < b.Due || a.Due == b.Due && a.ID < b.ID
}

// leavesFirst reports whether a leaves before b; both are due. A message that was tried in vain
// keeps its place.
func leavesFirst(a, b Entry) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Due < b.Due || a.Due == b.Due && a.ID < b.ID
}

// wakesFirst reports whether a becomes due before b; both wait for their time.
func wakesFirst(a, b Entry) bool {
	if a.Wakes != b.Wakes {
		return a.Wakes < b.Wakes
	}
	return a.ID < b.ID
}
