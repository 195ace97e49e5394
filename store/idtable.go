package store

import "iter"

// An idTable holds the young messages. Ids rise and most messages end soon, so a message lies at the place that the lowest bits
// of its id give. A message whose place is taken by a later one, because it has waited for long, lies in a map.
type idTable struct {
	places []youngMessage // id 0: the place is free; the length is a power of two
	used   int            // number of places that are taken
	others map[uint64]youngMessage
}

type youngMessage struct {
	id            uint64
	record, state []byte
}

const leastPlaces = 1 << 10

func newIDTable() idTable {
	return idTable{places: make([]youngMessage, leastPlaces), others: map[uint64]youngMessage{}}
}

func (t *idTable) place(id uint64) *youngMessage { return &t.places[id&uint64(len(t.places)-1)] }

func (t *idTable) len() int { return t.used + len(t.others) }

// get returns a message. ok is false if the table does not have it.
func (t *idTable) get(id uint64) (m youngMessage, ok bool) {
	if p := t.place(id); p.id == id {
		return *p, true
	}
	m, ok = t.others[id]
	return m, ok
}

// put stores a message, and replaces the one with the same id.
func (t *idTable) put(m youngMessage) {
	p := t.place(m.id)
	switch {
	case p.id == m.id:
		*p = m
		return
	case p.id == 0:
		if len(t.others) > 0 {
			delete(t.others, m.id)
		}
		*p = m
		t.used++
		return
	case p.id < m.id: // the one that has waited for longer leaves its place
		delete(t.others, m.id)
		t.others[p.id] = *p
		*p = m
	default:
		t.others[m.id] = m
	}
	if len(t.others) > len(t.places)/8 && t.used > len(t.places)/2 {
		t.grow()
	}
}

// remove removes a message. It returns false if the table does not have it.
func (t *idTable) remove(id uint64) bool {
	if p := t.place(id); p.id == id {
		*p = youngMessage{}
		t.used--
		return true
	}
	if len(t.others) == 0 {
		return false
	}
	_, ok := t.others[id]
	delete(t.others, id)
	return ok
}

// grow doubles the places.
func (t *idTable) grow() {
	old := *t
	*t = idTable{places: make([]youngMessage, 2*len(old.places)), others: map[uint64]youngMessage{}}
	for m := range old.all() {
		t.put(m)
	}
}

// clear removes all messages.
func (t *idTable) clear() { *t = newIDTable() }

// all passes the messages, in no order.
func (t *idTable) all() iter.Seq[youngMessage] {
	return func(yield func(youngMessage) bool) {
		for i := range t.places {
			if t.places[i].id != 0 && !yield(t.places[i]) {
				return
			}
		}
		for _, m := range t.others {
			if !yield(m) {
				return
			}
		}
	}
}
