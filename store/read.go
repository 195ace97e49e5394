package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"pmg/store/notes"
	"pmg/store/seal"

	"github.com/cockroachdb/pebble/v2"
)

// A reader implements Index for a store on disk.
type reader struct {
	db      *pebble.DB
	young   *young
	monitor *monitor
	summary *summary
	sealer  *seal.Sealer // nil: messages are not encrypted
	notes   *notes.Notes
}

// open decrypts the record of a message, in place of record.
func (r *reader) open(id uint64, record *[]byte) error {
	plain, err := r.sealer.Open(id, *record)
	if errors.Is(err, seal.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err == nil {
		*record = plain
	}
	return err
}

// get returns a copy of a value. The second result is false if the key does not exist.
func (r *reader) get(key []byte) ([]byte, bool, error) { return r.getInto(nil, key) }

// getInto appends a value to b. The second result is false if the key does not exist.
func (r *reader) getInto(b, key []byte) ([]byte, bool, error) {
	value, closer, err := r.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return b, false, nil
	}
	if err != nil {
		return b, false, r.monitor.readError(err)
	}
	b = append(b, value...)
	return b, true, closer.Close()
}

// iterate opens an iterator over the keys of a kind with the number first or higher.
func (r *reader) iterate(from pebble.Reader, kind byte, first uint64) (*pebble.Iterator, error) {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: appendKey(nil, kind, first), UpperBound: []byte{kind + 1}})
	if err != nil {
		return nil, r.monitor.readError(err)
	}
	return it, nil
}

// idOf returns the number in the key at an iterator's position.
func idOf(it *pebble.Iterator) (uint64, error) {
	number, ok := numberOf(it.Key())
	if !ok {
		return 0, fmt.Errorf("%w: the key %q has a wrong length", ErrDamaged, it.Key())
	}
	return number, nil
}

// first returns the lowest number of a kind that is from or higher. ok is false if there is none.
func (r *reader) first(kind byte, from uint64) (number uint64, ok bool, err error) {
	it, err := r.iterate(r.db, kind, from)
	if err != nil {
		return 0, false, err
	}
	defer it.Close()
	if !it.First() {
		return 0, false, r.monitor.readError(it.Error())
	}
	number, err = idOf(it)
	return number, err == nil, err
}

// flushed returns the marks that are in tables, and so on disk.
func (r *reader) flushed() (m marks, err error) {
	it, err := r.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyMarks}, UpperBound: []byte{keyMarks + 1}, OnlyReadGuaranteedDurable: true,
	})
	if err != nil {
		return m, r.monitor.readError(err)
	}
	defer it.Close()
	if !it.First() {
		return m, r.monitor.readError(it.Error())
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return m, r.monitor.readError(err)
	}
	return decodeMarks(value)
}

func (r *reader) Get(id uint64, e *Entry) (bool, error) {
	if err := r.monitor.failure(); err != nil {
		return false, err
	}
	if r.young.get(id, e) {
		err := r.open(id, &e.Record)
		return err == nil, cannotRead(id, err)
	}
	key := appendKey(make([]byte, 0, 9), keyMessage, id)
	record, ok, err := r.getInto(e.Record[:0], key)
	if e.ID, e.Record = id, record; ok && err == nil {
		err = r.open(id, &e.Record)
	}
	if err != nil || !ok {
		return false, cannotRead(id, err)
	}
	if !r.summary.states.maybe(id) {
		e.State = nil
		return true, nil
	}
	key[0] = keyState
	state, ok, err := r.getInto(e.State[:0], key)
	if e.State = state; !ok {
		e.State = nil
	}
	return err == nil, cannotRead(id, err)
}

func cannotRead(id uint64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot read message %016x: %w", id, err)
}

// Scan walks over messages and states side by side. Both are in the order of ids.
func (r *reader) Scan(from uint64, limit int, f func(*Entry) error) (uint64, error) {
	if err := r.monitor.failure(); err != nil {
		return 0, err
	}
	from = max(from, r.summary.get().low)
	next, err := r.scan(from, limit, f)
	if err != nil {
		return 0, fmt.Errorf("cannot read messages from %016x on: %w", from, err)
	}
	return next, nil
}

func (r *reader) scan(from uint64, limit int, f func(*Entry) error) (next uint64, err error) {
	view := r.db.NewSnapshot()
	defer view.Close()
	messages, err := r.iterate(view, keyMessage, from)
	if err != nil {
		return 0, err
	}
	defer messages.Close()
	states, err := r.iterate(view, keyState, from)
	if err != nil {
		return 0, err
	}
	defer states.Close()
	state := states.First()
	if err := states.Error(); err != nil {
		return 0, r.monitor.readError(err)
	}
	var e Entry
	for ok := messages.First(); ok; ok = messages.Next() {
		if e.ID, err = idOf(messages); err != nil {
			return 0, err
		}
		if limit--; limit < 0 {
			return e.ID, nil
		}
		if e.Record, err = messages.ValueAndErr(); err != nil {
			return 0, r.monitor.readError(err)
		}
		if err := r.open(e.ID, &e.Record); err != nil {
			return 0, err
		}
		for state && bytes.Compare(states.Key()[1:], messages.Key()[1:]) < 0 {
			if state = states.Next(); !state && states.Error() != nil { // a message must not be passed without its state
				return 0, r.monitor.readError(states.Error())
			}
		}
		e.State = nil
		if state && bytes.Equal(states.Key()[1:], messages.Key()[1:]) {
			if e.State, err = states.ValueAndErr(); err != nil {
				return 0, r.monitor.readError(err)
			}
		}
		if err := f(&e); err != nil {
			return 0, err
		}
	}
	return 0, errors.Join(r.monitor.readError(messages.Error()), r.monitor.readError(states.Error()))
}

func (r *reader) LastID() uint64 { return r.summary.get().last }

// Lookup implements Index.
func (r *reader) Lookup(kind Kind, key []byte) ([]byte, bool, error) {
	if err := r.monitor.failure(); err != nil {
		return nil, false, err
	}
	full := appendNote(nil, kind, key)
	value, ok, err := r.notes.Lookup(full)
	if err == nil && ok {
		err = openNote(r, full, &value)
	}
	if err != nil {
		return nil, false, fmt.Errorf("cannot look up id %q of %s: %w", key, kind, err)
	}
	return value, ok, nil
}

// errEnough ends a walk over notes.
var errEnough = errors.New("enough notes were passed")

func (r *reader) Notes(kind Kind, from []byte, limit int, f func(key, value []byte) error) error {
	if err := r.monitor.failure(); err != nil {
		return err
	}
	if kind != KindInbox {
		return eachOf(r.notes, kind, from, limit, f)
	}
	return eachOf(r.notes, kind, from, limit, func(key, value []byte) error {
		if err := openNote(r, appendNote(nil, kind, key), &value); err != nil {
			return err
		}
		return f(key, value)
	})
}

// eachOf does for notes what Index.Notes promises.
func eachOf(all *notes.Notes, kind Kind, from []byte, limit int, f func(key, value []byte) error) error {
	view := all.View()
	defer view.Close()
	begin := appendNote(nil, kind, nil)
	for _, day := range view.Days() {
		err := view.Each(day, append(slices.Clip(begin), from...), func(key, value []byte) error {
			if limit--; limit < 0 {
				return errEnough
			}
			return f(key[len(begin):], value)
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastEvent returns the highest number of an event, or 0 if there are none.
func (r *reader) lastEvent() (number uint64, err error) {
	it, err := r.iterate(r.db, keyEvent, 0)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	if !it.Last() {
		return 0, r.monitor.readError(it.Error())
	}
	return idOf(it)
}

// eventsAtOnce is how many young events are copied at a time.
const eventsAtOnce = 256

func (r *reader) Events(after uint64, limit int, f func(number uint64, line []byte) error) (uint64, error) {
	for limit > 0 {
		if err := r.monitor.failure(); err != nil {
			return after, err
		}
		all, first := r.young.eventsAfter(after, min(limit, eventsAtOnce)) // pebble has all events before first
		last, n, err := r.movedEvents(after, first, limit, f)
		if after = last; err != nil {
			return after, fmt.Errorf("cannot read events: %w", err)
		}
		limit -= n
		for _, e := range all {
			if limit--; limit < 0 {
				return after, nil
			}
			if err := f(e.number, e.line); err != nil {
				return after, err
			}
			after = e.number
		}
		if len(all) == 0 {
			return after, nil
		}
	}
	return after, nil
}

// movedEvents calls f for each event whose number is above after and below before. It returns the
// number of the last one, and how many there were.
func (r *reader) movedEvents(
	after, before uint64, limit int, f func(number uint64, line []byte) error,
) (last uint64, n int, err error) {
	last = after
	if after >= r.summary.lastMoved() {
		return last, 0, nil
	}
	it, err := r.iterate(r.db, keyEvent, after+1)
	if err != nil {
		return last, 0, err
	}
	defer it.Close()
	for ok := it.First(); ok && n < limit; ok = it.Next() {
		line, err := it.ValueAndErr()
		if err != nil {
			return last, n, r.monitor.readError(err)
		}
		number, err := idOf(it)
		if err != nil {
			return last, n, err
		}
		if number >= before {
			break
		}
		if err := f(number, line); err != nil {
			return last, n, err
		}
		last = number
		n++
	}
	return last, n, r.monitor.readError(it.Error())
}
