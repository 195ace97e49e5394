package store

import "github.com/cockroachdb/pebble/v2"

// A tidier records where the messages begin, and makes the store smaller that has become empty.
type tidier struct {
	reader  *reader
	writer  *writer
	monitor *monitor
	summary *summary
	last    shrinking
}

// tidy raises the low mark to the first message. Deleted messages stay in the tables for a
// while, and a scan that began before them would pass over each.
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

// tableOctets returns how many octets the tables have that count.
func (t *tidier) tableOctets() int64 { return int64(t.reader.db.Metrics().Table.Local.LiveSize) }

// recount reports whether there is no message, and corrects the count, which is wrong if a
// message was put twice.
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

// clearStates forgets which messages may have states if there is no message: after about a million
// of them each delete would write twice, and each read look twice.
func (t *tidier) clearStates() {
	t.writer.writing.Lock()
	defer t.writer.writing.Unlock()
	if !t.seek() {
		t.summary.states.clear()
	}
}

// seek sets the low mark to the first message, or behind the last if there is none. It reports
// whether there is one, or may be.
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
	// no message before the memory table of a store that is empty is written.
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

// shrink deletes all ids once more, as ranges, and writes the few messages again that there are:
// pebble removes tables that lie in a range without reading them, and does not look for others on
// its own while little is written. Then it writes the memory table, so that the journal can be trimmed.
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

// A span is a range of ids, without its end, and those at which there was a message.
type span struct {
	first, end uint64
	messages   []uint64
}

// spans returns the ranges to be written again, from the lowest id on, or the one below the first
// message where there are too many. Messages that were put since are at lowPut or above it.
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

// rewrite deletes a range, and writes the messages again that are in it.
func (t *tidier) rewrite(p span, next request) error {
	t.writer.writing.Lock()
	defer t.writer.writing.Unlock()
	batch := t.writer.newBatch()
	if t.summary.wasPutBelow(p.end) { // the range may hold a message that is not in the span; no batch is under way now
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

// writeAgain adds an entry to a batch as it stands in the store, if it does.
func (t *tidier) writeAgain(batch *pebble.Batch, key []byte) error {
	value, ok, err := t.reader.get(key)
	if err != nil || !ok {
		return err
	}
	return batch.Set(key, value, nil)
}
