package store

import (
	"cmp"
	"slices"
	"sync"
)

// A young has the messages and events that the journal has and pebble has not: most messages end before they are moved
// to pebble. A message is wholly in one place.
//
// What was put in this round is fresh, what was put in the one before is old, and what was put before that leaves: it
// is moved to pebble in the order of the ids, a little with each commit.
type young struct {
	mu       sync.RWMutex // guards what follows; only the writer changes it
	messages map[uint64]youngMessage
	events   []event // in the order of their numbers
	lowest   uint64  // no message has a lower id
	leaving  []uint64
	upTo     uint64 // highest id that leaves
	fresh    *arena
	old      *arena
	left     *arena // of what leaves
}

type youngMessage struct{ record, state []byte }

func newYoung() *young {
	return &young{messages: map[uint64]youngMessage{}, lowest: noID, fresh: &arena{}, old: &arena{}, left: &arena{}}
}

// An arena is memory that is given back as a whole.
type arena struct {
	chunks [][]byte
	chunk  int // of chunks, that is being filled
	octets int
}

const (
	chunkSize = 1 << 20
	// maxYoung is how many octets may be young, ended messages with them. Then all is moved together.
	maxYoung = 64 << 20
)

// copyOf returns a copy of b that stands until the arena is cleared.
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

// clear gives the memory back for the next use.
func (a *arena) clear() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.chunk, a.octets = 0, 0
}

// put stores the record of a message, which may be there.
func (y *young) put(id uint64, record []byte) {
	m, ok := y.messages[id]
	m.record = y.fresh.copyOf(record)
	y.messages[id] = m
	y.lowest = min(y.lowest, id)
	if !ok && id <= y.upTo { // ids do not rise strictly
		at, _ := slices.BinarySearch(y.leaving, id)
		y.leaving = slices.Insert(y.leaving, at, id)
	}
}

// keep stores the state of a message, and reports whether the message is there.
func (y *young) keep(id uint64, state []byte) bool {
	m, ok := y.messages[id]
	if ok {
		m.state = y.fresh.copyOf(state)
		y.messages[id] = m
	}
	return ok
}

// remove removes a message, and reports whether it was there.
func (y *young) remove(id uint64) bool {
	_, ok := y.messages[id]
	delete(y.messages, id)
	return ok
}

func (y *young) addEvent(number uint64, line []byte) {
	y.events = append(y.events, event{number, y.fresh.copyOf(line)})
}

// dropEvents removes the events up to a number.
func (y *young) dropEvents(upTo uint64) {
	n := 0
	for n < len(y.events) && y.events[n].number <= upTo {
		n++
	}
	y.events = slices.Delete(y.events, 0, n)
}

// isLarge reports whether all is to be moved.
func (y *young) isLarge() bool { return y.fresh.octets+y.old.octets+y.left.octets > maxYoung }

// beginRound begins a round: what was old leaves, all of which has ids up to upTo. Nothing else does.
func (y *young) beginRound(upTo uint64) {
	y.fresh, y.old, y.left = y.left, y.fresh, y.old
	y.upTo, y.lowest = upTo, noID
	y.leaving = y.leaving[:0]
	for id := range y.messages {
		y.lowest = min(y.lowest, id)
		if id <= upTo {
			y.leaving = append(y.leaving, id)
		}
	}
	slices.Sort(y.leaving)
}

// clear forgets all, because it was moved.
func (y *young) clear() {
	clear(y.messages)
	clear(y.events)
	y.events, y.leaving = y.events[:0], y.leaving[:0]
	y.lowest, y.upTo = noID, 0
	for _, a := range []*arena{y.fresh, y.old, y.left} {
		a.clear()
	}
}

// get copies a message into e, and reports whether it is there.
func (y *young) get(id uint64, e *Entry) bool {
	y.mu.RLock()
	defer y.mu.RUnlock()
	m, ok := y.messages[id]
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

// first returns a number below which no message is, and reports whether there are messages.
func (y *young) first() (lowest uint64, ok bool) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.lowest, len(y.messages) > 0
}

// eventsAfter returns copies of up to limit events with numbers above after, and the number of the first of all; noID if
// there is none.
func (y *young) eventsAfter(after uint64, limit int) (all []event, first uint64) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	first = noID
	if len(y.events) > 0 {
		first = y.events[0].number
	}
	at, _ := slices.BinarySearchFunc(y.events, after+1, func(e event, n uint64) int { return cmp.Compare(e.number, n) })
	for _, e := range y.events[at:min(len(y.events), at+limit)] {
		all = append(all, event{e.number, slices.Clone(e.line)})
	}
	return all, first
}
