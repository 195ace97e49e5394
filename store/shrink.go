package store

import "github.com/cockroachdb/pebble/v2"

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
	// fewMessages is how many are written again. Where more wait, the store is not small anyway.
	fewMessages = 10_000
	// spanMessages is how many are written again while no batch is committed: a few milliseconds.
	spanMessages = 500
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

// A shrinker makes a store smaller.
type shrinker struct{ *durable }

// shrink deletes all ids once more, as ranges, and writes the few messages again that there are:
// pebble removes tables that lie in a range without reading them, and does not look for others on
// its own while little is written. Then it has the log dropped.
func (s shrinker) shrink() error {
	spans, err := s.spans()
	if err != nil {
		return err
	}
	for i, p := range spans {
		next := apply
		if i == len(spans)-1 {
			next = flush
		}
		if err := s.rewrite(p, next); err != nil {
			return err
		}
	}
	s.shrinking.commits = s.commits.Load()
	return nil
}

// A span is a range of ids, without its end, and those at which there was a message.
type span struct {
	first, end uint64
	messages   []uint64
}

// spans returns the ranges to be written again, from the lowest id on, or the one below the first
// message where there are too many. Messages that were put since are at lowPut or above it.
func (s shrinker) spans() ([]span, error) {
	s.mu.Lock()
	s.lowPut = noID
	low, end, many := s.marks.low, s.marks.last+1, s.marks.messages > fewMessages
	s.mu.Unlock()
	it, err := s.iterate(s.db, keyMessage, low)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	p := span{}
	var all []span
	for ok := it.First(); ok; ok = it.Next() {
		id, err := idOf(it)
		if err != nil {
			return nil, err
		}
		if many || len(p.messages) == spanMessages {
			p.end = id
			all = append(all, p)
			p = span{first: id}
		}
		if many || len(all)*spanMessages >= fewMessages {
			return all, nil
		}
		p.messages = append(p.messages, id)
	}
	p.end = max(end, p.first)
	return append(all, p), s.readError(it.Error())
}

// rewrite deletes a range, and writes the messages again that are in it.
func (s shrinker) rewrite(p span, next request) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	t := s.newBatch()
	s.mu.Lock()
	same := p.end <= s.lowPut // no batch is under way now
	s.mu.Unlock()
	if !same {
		return s.ask(next) // a message may have been put into the range since
	}
	for _, kind := range []byte{keyMessage, keyState} {
		if err := t.DeleteRange(appendKey(nil, kind, p.first), appendKey(nil, kind, p.end), nil); err != nil {
			return err
		}
	}
	for _, id := range p.messages {
		for _, kind := range []byte{keyMessage, keyState} {
			if err := s.writeAgain(t, appendKey(nil, kind, id)); err != nil {
				return err
			}
		}
	}
	return s.ask(next)
}

// writeAgain adds an entry to a batch as it stands in the store, if it does.
func (s shrinker) writeAgain(t *pebble.Batch, key []byte) error {
	value, ok, err := s.get(key)
	if err != nil || !ok {
		return err
	}
	return t.Set(key, value, nil)
}
