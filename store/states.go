package store

import "sync/atomic"

// A states is a set of ids that may have a state, so that most deletes and reads need not look
// for one. It is allowed to hold too many: then a key is deleted or looked for that does not
// exist, which costs a little time. It is safe for concurrent use.
type states struct {
	upTo uint64 // ids up to this one may have had one when the store was opened
	used atomic.Bool
	bits [1 << 14]atomic.Uint64
}

// place returns the word and the bit of an id.
func (s *states) place(id uint64) (word *atomic.Uint64, bit uint64) {
	h := id * 0x9E3779B97F4A7C15 // Fibonacci hashing spreads ids that follow each other
	return &s.bits[h>>50], 1 << (h >> 44 & 63)
}

func (s *states) add(id uint64) {
	s.used.Store(true)
	word, bit := s.place(id)
	word.Or(bit)
}

// clear forgets all ids. No message has a state, and none is given one meanwhile.
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
