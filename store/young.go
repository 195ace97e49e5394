package store

import (
	"cmp"
	"slices"
	"sync"
)

// A young holds the messages and events that are in the journal and not in pebble yet. Most
// messages end before they are moved to pebble. Record and state of a message are always in the
// same place.
//
// A message that was put in this round is fresh. A message of the previous round is old. Messages
// of earlier rounds leave: they are moved to pebble in the order of their ids, a few with each
// commit.
type young struct {
	mu       sync.RWMutex // guards the fields below, which only the writer changes
	messages idTable
	events   []event // sorted by number
	lowest   uint64  // no message has a lower id
	leaving  []uint64
	upTo     uint64 // messages up to this id leave
	fresh    *arena
	old      *arena
	left     *arena // memory of the messages that leave
}

func newYoung() *young {
	return &young{messages: newIDTable(), lowest: noID, fresh: &arena{}, old: &arena{}, left: &arena{}}
}

// An arena is memory that is freed as a whole.
type arena struct {
	chunks [][]byte
	chunk  int // index in chunks of the chunk that is being filled
	octets int
}

const (
	chunkSize = 1 << 20
	// maxYoung is the maximum size of young messages in octets, including ended ones. When it is
	// exceeded, all young messages are moved together.
	maxYoung = 256 << 20
)

// copyOf returns a copy of b that is valid until the arena is cleared.
func (a *arena) copyOf(b []byte) []byte {
	a.octets += len(b)
	if len(b) > chunkSize {
		return slices.Clone(b)
	}
	if a.chunk < len(a.chunks) && len(a.chunks[a.chunk])+len(b) > chunkSize {
		a.chunk++
	}
	if a.chunk == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, 0, chunkSize))
	}
	c := &a.chunks[a.chunk]
	at := len(*c)
	*c = append(*c, b...)
	return (*c)[at:len(*c):len(*c)]
}

// clear makes the arena's memory available for reuse.
func (a *arena) clear() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.chunk, a.octets = 0, 0
}

// put stores the record of a message. The message may already exist.
func (y *young) put(id uint64, record []byte) {
	m, ok := y.messages.get(id)
	m.id, m.record = id, y.fresh.copyOf(record)
	y.messages.put(m)
	y.lowest = min(y.lowest, id)
	if !ok && id <= y.upTo { // ids do not rise strictly
		at, _ := slices.BinarySearch(y.leaving, id)
		y.leaving = slices.Insert(y.leaving, at, id)
	}
}

// keep stores the state of a message. It returns false if the message is not young.
func (y *young) keep(id uint64, state []byte) bool {
	m, ok := y.messages.get(id)
	if ok {
		m.state = y.fresh.copyOf(state)
		y.messages.put(m)
	}
	return ok
}

// remove removes a message. It returns false if the message is not young.
func (y *young) remove(id uint64) bool {
	return y.messages.remove(id)
}

func (y *young) addEvent(number uint64, line []byte) {
	y.events = append(y.events, event{number, y.fresh.copyOf(line)})
}

// dropEvents removes the events with numbers up to upTo.
func (y *young) dropEvents(upTo uint64) {
	n := 0
	for n < len(y.events) && y.events[n].number <= upTo {
		n++
	}
	y.events = slices.Delete(y.events, 0, n)
}

// isLarge reports whether young messages take so much memory that all must be moved.
func (y *young) isLarge() bool { return y.fresh.octets+y.old.octets+y.left.octets > maxYoung }

// beginRound begins a round. The old messages, which have ids up to upTo, leave from now on. No
// message may be leaving before.
func (y *young) beginRound(upTo uint64) {
	y.fresh, y.old, y.left = y.left, y.fresh, y.old
	y.upTo, y.lowest = upTo, noID
	y.leaving = y.leaving[:0]
	for m := range y.messages.all() {
		y.lowest = min(y.lowest, m.id)
		if m.id <= upTo {
			y.leaving = append(y.leaving, m.id)
		}
	}
	slices.Sort(y.leaving)
}

// clear removes all messages and events, because they were moved to pebble.
func (y *young) clear() {
	y.messages.clear()
	clear(y.events)
	y.events, y.leaving = y.events[:0], y.leaving[:0]
	y.lowest, y.upTo = noID, 0
	for _, a := range []*arena{y.fresh, y.old, y.left} {
		a.clear()
	}
}

// get copies a message into e. It returns false if the message is not young.
func (y *young) get(id uint64, e *Entry) bool {
	y.mu.RLock()
	defer y.mu.RUnlock()
	m, ok := y.messages.get(id)
	if !ok {
		return false
	}
	e.ID, e.Record = id, append(e.Record[:0], m.record...)
	if m.state == nil {
		e.State = nil
	} else {
		e.State = append(e.State[:0], m.state...)
	}
	return true
}

// first returns an id below which there is no young message. ok is false if there are no young
// messages.
func (y *young) first() (lowest uint64, ok bool) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.lowest, y.messages.len() > 0
}

// eventsAfter returns copies of up to limit events with numbers above after. first is the number of
// the first of all young events, or noID if there is none.
func (y *young) eventsAfter(after uint64, limit int) (all []event, first uint64) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	first = noID
	if len(y.events) > 0 {
		first = y.events[0].number
	}
	at, _ := slices.BinarySearchFunc(y.events, after+1, func(e event, n uint64) int { return cmp.Compare(e.number, n) })
	some := y.events[at:min(len(y.events), at+limit)]
	size := 0
	for _, e := range some {
		size += len(e.line)
	}
	all, room := make([]event, 0, len(some)), make([]byte, 0, size)
	for _, e := range some {
		begin := len(room)
		room = append(room, e.line...)
		all = append(all, event{e.number, room[begin:len(room):len(room)]})
	}
	return all, first
}
