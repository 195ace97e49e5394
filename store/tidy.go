package store

import "github.com/cockroachdb/pebble/v2"

// A tidier records the lowest id of a message, and shrinks a store that has become empty.
type tidier struct {
	reader  *reader
	writer  *writer
	monitor *monitor
	summary *summary
	last    shrinking
}

// tidy raises the low mark to the first message. Deleted messages stay in the tables for a while,
// and a scan from a lower mark would have to skip each of them.
func (t *tidier) tidy() {
	empty := !t.seek() && t.recount()
	if empty && t.summary.states.used.Load() {
		t.clearStates()
	}
	compacting := t.reader.db.Metrics().Compact.NumInProgress > 0
	if !t.last.due(empty, t.writer.commits.Load(), t.writer.deleted.Load(), t.tableOctets(), compacting) {
		return
	}
	if err := t.shrink(); err != nil {
		t.monitor.log.Error().Err(err).Msg("cannot make the store smaller")
	}
}

// tableOctets returns the total size of the live tables, in octets.
func (t *tidier) tableOctets() int64 { return int64(t.reader.db.Metrics().Table.Local.LiveSize) }

// recount reports whether the store has no messages, and then corrects the count. The count is
// wrong if a message was put twice.
func (t *tidier) recount() bool {
	if t.summary.get().messages == 0 {
		return true
	}
	t.writer.writing.Lock()
	defer t.writer.writing.Unlock()
	if t.seek() {
		return false
	}
	t.summary.noMessages()
	return true
}

// clearStates clears the set of ids that may have states, if there is no message. After about a
// million ids in the set, each deletion would write twice, and each read would search twice.
func (t *tidier) clearStates() {
	t.writer.writing.Lock()
	defer t.writer.writing.Unlock()
	if !t.seek() {
		t.summary.states.clear()
	}
}

// seek raises the low mark to the first message, or behind the last id if there is none. It returns
// true if there is a message, or may be one.
func (t *tidier) seek() bool {
	m := t.summary.watchPuts()
	young, some := t.reader.young.first()
	id, ok, err := t.reader.first(keyMessage, m.low)
	if err != nil {
		t.monitor.log.Error().Err(err).Msg("cannot find the first message of the store")
		return true
	}
	if !ok {
		id = m.last + 1
	}
	t.summary.raise(min(id, young))
	return ok || some
}

// A shrinking is the state of shrinking the store, since the last time.
type shrinking struct {
	calls   int   // number of calls of Tidy since the last time
	empty   int   // number of consecutive calls of Tidy that have found no message
	commits int64 // number of commits at the last time
	octets  int64 // octets of deleted messages at the last time
	again   int   // how many further tries remain while the tables are not small
}

const (
	// shrinkAfter is the minimum number of calls of Tidy between two times. It is also how many
	// consecutive calls must find no message before the memory table of an empty store is written.
	shrinkAfter = 20
	// shrinkOctets is how much must have been deleted since the last time if messages wait.
	shrinkOctets = 16 << 20
	// shrinkAgain is how often shrinking is tried again if the store has not become small, because
	// pebble does not remove tables that are being compacted, or the resulting tables.
	shrinkAgain = 3
	smallTables = shrinkOctets / 4
	// fewMessages is the maximum number of messages that are written again. A store with more messages
	// is not small anyway.
	fewMessages = 10_000
	// spanMessages is how many messages are written again while commits wait, which takes a few
	// milliseconds.
	spanMessages = 500
)

// due reports whether to shrink the store now. It is called once for each call of Tidy. tables is
// the size of the tables in octets. compacting is true while pebble compacts tables; a further try
// then waits, because it would have no effect.
func (s *shrinking) due(empty bool, commits, deleted, tables int64, compacting bool) bool {
	if s.empty++; !empty {
		s.empty = 0
	}
	if s.calls++; s.calls < shrinkAfter {
		return false
	}
	flushes := s.empty >= shrinkAfter && commits != s.commits
	switch {
	case deleted-s.octets >= shrinkOctets || flushes:
		s.again = shrinkAgain
	case s.again > 0 && tables > smallTables && !compacting:
		s.again--
	default:
		return false
	}
	s.calls, s.empty, s.octets = 0, 0, deleted
	return true
}

// shrink deletes all ids again, as ranges, and writes the few existing messages again. The reason
// is that pebble removes tables in a deleted range without reading them, but does not compact other
// tables while little is written. Then shrink writes the memory table, so that the journal can be
// trimmed.
func (t *tidier) shrink() error {
	spans, err := t.spans()
	if err != nil {
		return err
	}
	for i, p := range spans {
		if err := t.rewrite(p, request{batch: true, flush: i == len(spans)-1}); err != nil {
			return err
		}
	}
	t.last.commits = t.writer.commits.Load()
	return nil
}

// A span is a range of ids, which excludes its end, and the ids in the range at which there was a
// message.
type span struct {
	first, end uint64
	messages   []uint64
}

// spans returns the ranges to be written again, from the lowest id on. If there are too many
// messages, it only returns the range below the first message. Messages that were put meanwhile
// have the id lowPut or higher.
func (t *tidier) spans() ([]span, error) {
	m := t.summary.watchPuts()
	end, many := m.last+1, m.messages > fewMessages
	it, err := t.reader.iterate(t.reader.db, keyMessage, m.low)
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
	return append(all, p), t.monitor.readError(it.Error())
}

// rewrite deletes a range of ids, and writes the messages in the range again.
func (t *tidier) rewrite(p span, next request) error {
	t.writer.writing.Lock()
	defer t.writer.writing.Unlock()
	batch := t.writer.newBatch()
	if t.summary.wasPutBelow(p.end) { // the range may hold a message that the span lacks; no batch is under way now
		return t.writer.ask(next)
	}
	for _, kind := range []byte{keyMessage, keyState} {
		if err := batch.DeleteRange(appendKey(nil, kind, p.first), appendKey(nil, kind, p.end), nil); err != nil {
			return err
		}
	}
	for _, id := range p.messages {
		for _, kind := range []byte{keyMessage, keyState} {
			if err := t.writeAgain(batch, appendKey(nil, kind, id)); err != nil {
				return err
			}
		}
	}
	return t.writer.ask(next)
}

// writeAgain adds an entry of the store to a batch, if the entry exists.
func (t *tidier) writeAgain(batch *pebble.Batch, key []byte) error {
	value, ok, err := t.reader.get(key)
	if err != nil || !ok {
		return err
	}
	return batch.Set(key, value, nil)
}
