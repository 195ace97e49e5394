package store

// A shrinking is what is known of the last time that the store was made smaller.
type shrinking struct {
	calls   int   // of Tidy since then
	empty   int   // of Tidy in a row that have found no message
	commits int64 // up to then
	octets  int64 // of messages deleted up to then
	again   int   // how often it is tried again while the tables are not small
}

const (
	// shrinkAfter is how many calls of Tidy are between two times, and how many in a row find
	// no message before the log of a store that is empty is dropped.
	shrinkAfter = 20
	// shrinkOctets is how much was deleted since the last time where messages wait.
	shrinkOctets = 16 << 20
	// shrinkAgain is how often the store is made smaller again that has not become small: pebble
	// does not remove tables that are being compacted, nor what they become.
	shrinkAgain = 3
	smallTables = shrinkOctets / 4
)

// due reports whether to make a store smaller whose tables have so many octets. It is called once
// for each call of Tidy. compacting says that pebble is compacting tables: a further try waits for the
// end of that, because it would be in vain.
func (s *shrinking) due(empty bool, commits, deleted, tables int64, compacting bool) bool {
	if s.empty++; !empty {
		s.empty = 0
	}
	if s.calls++; s.calls < shrinkAfter {
		return false
	}
	dropsLog := s.empty >= shrinkAfter && commits != s.commits
	switch {
	case deleted-s.octets >= shrinkOctets || dropsLog:
		s.again = shrinkAgain
	case s.again > 0 && tables > smallTables && !compacting:
		s.again--
	default:
		return false
	}
	s.calls, s.empty, s.octets = 0, 0, deleted
	return true
}

// shrink deletes all ids below the first message once more, as ranges: pebble removes tables that lie in a
// range without reading them, and does not look for others on its own while little is written. Then it has
// the log dropped.
func (s *durable) shrink() error {
	s.writing.Lock() // no batch is under way
	defer s.writing.Unlock()
	s.mu.Lock()
	low := s.marks.low
	s.mu.Unlock()
	t := s.newBatch()
	for _, kind := range []byte{keyMessage, keyState} {
		if err := t.DeleteRange(appendKey(nil, kind, 0), appendKey(nil, kind, low), nil); err != nil {
			return err
		}
	}
	s.shrinking.commits = s.commits.Load()
	return s.ask(flush)
}
