package store

import (
	"slices"
	"sync"
)

// A young has the messages and events that the journal has and pebble has not: most messages end before they are moved
// to pebble. Those that have not are moved together. A message is wholly in one place.
type young struct {
	mu       sync.RWMutex // guards what follows; only the writer changes it
	messages map[uint64]youngMessage
	events   []event // in the order of their numbers
	lowest   uint64  // no message has a lower id
	alive    int     // octets of messages and events
	chunks   [][]byte
	chunk    int // of chunks, that is being filled
	octets   int // in chunks
}

type youngMessage struct{ record, state []byte }

func (m youngMessage) size() int { return len(m.record) + len(m.state) + opOctets }

const (
	// maxAlive is how many octets are moved together: while they are, no batch is committed.
	maxAlive = 2 << 20
	// maxYoung is how many octets messages may have taken, those that have ended with them.
	maxYoung  = 16 << 20
	chunkSize = 1 << 20
)

func newYoung() *young { return &young{messages: map[uint64]youngMessage{}, lowest: noID} }

// copyOf returns a copy of b that stands until all is moved.
func (y *young) copyOf(b []byte) []byte {
	if y.chunk < len(y.chunks) && len(b) > cap(y.chunks[y.chunk])-len(y.chunks[y.chunk]) {
		y.chunk++
	}
	if y.chunk == len(y.chunks) {
		y.chunks = append(y.chunks, make([]byte, 0, max(chunkSize, len(b))))
	}
	c := &y.chunks[y.chunk]
	at := len(*c)
	*c = append(*c, b...)
	y.octets += len(b)
	return (*c)[at:len(*c):len(*c)]
}

// put stores the record of a message, which may be there.
func (y *young) put(id uint64, record []byte) {
	m, ok := y.messages[id]
	if ok {
		y.alive -= m.size()
	}
	m.record = y.copyOf(record)
	y.alive += m.size()
	y.messages[id] = m
	y.lowest = min(y.lowest, id)
}

// keep stores the state of a message, and reports whether the message is there.
func (y *young) keep(id uint64, state []byte) bool {
	m, ok := y.messages[id]
	if !ok {
		return false
	}
	y.alive -= len(m.state)
	m.state = y.copyOf(state)
	y.alive += len(m.state)
	y.messages[id] = m
	return true
}

// remove removes a message, and reports whether it was there.
func (y *young) remove(id uint64) bool {
	m, ok := y.messages[id]
	if ok {
		y.alive -= m.size()
		delete(y.messages, id)
	}
	return ok
}

func (y *young) addEvent(number uint64, line []byte) {
	y.events = append(y.events, event{number, y.copyOf(line)})
	y.alive += len(line) + opOctets
}

// dropEvents removes the events up to a number.
func (y *young) dropEvents(upTo uint64) {
	n := 0
	for ; n < len(y.events) && y.events[n].number <= upTo; n++ {
		y.alive -= len(y.events[n].line) + opOctets
	}
	y.events = slices.Delete(y.events, 0, n)
}

// isLarge reports whether all is to be moved.
func (y *young) isLarge() bool { return y.alive > maxAlive || y.octets > maxYoung }

func (y *young) isEmpty() bool { return len(y.messages) == 0 && len(y.events) == 0 }

// clear forgets all, because it was moved.
func (y *young) clear() {
	clear(y.messages)
	clear(y.events)
	y.events = y.events[:0]
	y.lowest, y.alive, y.octets, y.chunk = noID, 0, 0, 0
	y.chunks = slices.DeleteFunc(y.chunks, func(c []byte) bool { return cap(c) > chunkSize })
	for i := range y.chunks {
		y.chunks[i] = y.chunks[i][:0]
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
	at, _ := slices.BinarySearchFunc(y.events, after+1, func(e event, n uint64) int {
		switch {
		case e.number < n:
			return -1
		case e.number > n:
			return 1
		}
		return 0
	})
	for _, e := range y.events[at:min(len(y.events), at+limit)] {
		all = append(all, event{e.number, slices.Clone(e.line)})
	}
	return all, first
}
