package store

import (
	"sync"
	"sync/atomic"

	"pmg/store/journal"
)

// A summary has the facts about a store as a whole. It is safe for concurrent use.
type summary struct {
	states states

	mu     sync.Mutex // guards the fields below
	marks  marks
	place  journal.Seq // place of the last record that was carried out since the store was opened
	lowPut uint64      // lowest id put since watchPuts was called
	event  uint64      // number of the last committed event
	moved  uint64      // number of the last event that was moved to pebble
}

// get returns the marks.
func (s *summary) get() marks {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks
}

// isBehind reports whether a start still replays records that pebble has in part. Until it ends, pebble is ahead of what is in
// memory: nothing may be moved to pebble, because marks would say that this includes the records not yet replayed.
func (s *summary) isBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place < s.marks.applied
}

// endReplay records that nothing more is replayed.
func (s *summary) endReplay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place = max(s.place, s.marks.applied)
}

// lastEvent returns the number of the last event that was committed.
func (s *summary) lastEvent() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.event
}

// lastMoved returns the number of the last event that was moved to pebble.
func (s *summary) lastMoved() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// move records what was moved to pebble. m are the new marks. lowest is the lowest id of the moved
// messages. event is the number of the last moved event.
func (s *summary) move(m marks, lowest, event uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.moved, s.marks.movedID = m.moved, m.movedID
	s.lowPut = min(s.lowPut, lowest)
	s.moved = max(s.moved, event)
}

// watchPuts begins to track the lowest id that is put, and returns the current marks.
func (s *summary) watchPuts() marks {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lowPut = noID
	return s.marks
}

// raise raises the low mark to low, but not above an id that was put since watchPuts.
func (s *summary) raise(low uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.low = min(low, s.lowPut)
}

// wasPutBelow reports whether a message with an id below end was put since watchPuts.
func (s *summary) wasPutBelow(end uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return end > s.lowPut
}

// noMessages sets the count of messages to 0.
func (s *summary) noMessages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.messages = 0
}

// reckon returns the marks after a written batch, and the lowest id that the batch puts. A replayed
// batch that was already counted does not count again.
func (s *summary) reckon(b *Batch) (m marks, lowest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, lowest = s.marks, noID
	if b.at <= m.applied {
		return m, lowest
	}
	m.applied = b.at
	for _, o := range b.ops {
		switch o.kind {
		case opPut:
			m.last, lowest = max(m.last, o.id), min(lowest, o.id)
			m.messages++
		case opDelete:
			m.messages--
		}
	}
	m.messages, m.low = max(m.messages, 0), min(m.low, lowest)
	return m, lowest
}

// settle records the changes of a committed batch. The tidier may have raised the low mark
// meanwhile.
func (s *summary) settle(b *Batch, m marks, lowest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.last, s.marks.messages, s.marks.applied = m.last, m.messages, m.applied
	s.place = max(s.place, b.at)
	s.marks.low, s.lowPut = min(s.marks.low, lowest), min(s.lowPut, lowest)
	for _, o := range b.ops {
		if o.kind == opEvent {
			s.event = max(s.event, o.id)
		}
	}
}

// A states is a set of ids that may have a state, so that most deletes and reads need not look for
// one. The set may hold too many ids: then a state is deleted or looked up that does not exist,
// which costs a little time. It is safe for concurrent use.
type states struct {
	upTo uint64 // ids up to this one may have had a state when the store was opened
	used atomic.Bool
	bits [1 << 14]atomic.Uint64
}

// place returns the word and the bit that stand for an id.
func (s *states) place(id uint64) (word *atomic.Uint64, bit uint64) {
	h := id * 0x9E3779B97F4A7C15 // Fibonacci hashing spreads ids that follow each other
	return &s.bits[h>>50], 1 << (h >> 44 & 63)
}

func (s *states) add(id uint64) {
	s.used.Store(true)
	word, bit := s.place(id)
	word.Or(bit)
}

// clear removes all ids. The caller makes sure that no message has a state or gets one meanwhile.
func (s *states) clear() {
	s.used.Store(false)
	for i := range s.bits {
		s.bits[i].Store(0)
	}
}

// maybe reports whether an id may have a state.
func (s *states) maybe(id uint64) bool {
	word, bit := s.place(id)
	return id <= s.upTo || word.Load()&bit != 0
}
