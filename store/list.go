package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"pmg/store/notes"
)

// A Lister is a store that can list all messages in the order of their ids. A store that is not
// durable is not a Lister, because its messages are only in lanes.
type Lister interface {
	// List calls f for messages in descending order of the ids. It begins with the highest id that is
	// lower than the argument below, or with the highest of all if that is 0. For a stored message it
	// passes the entry. For other messages it passes the note of the kind whose key is the id in eight
	// octets; of several notes it passes the one of the latest day. Notes of days before the day since
	// are ignored. List stops after limit ids and returns the last id, or 0 if there are no more. The
	// result reflects one moment. f may use a Listed only until f returns. An error of f ends the list
	// and is returned.
	List(kind Kind, below uint64, since uint32, limit int, f func(*Listed) error) (last uint64, err error)
}

// A Listed is what List passes of one message.
type Listed struct {
	Entry
	Note []byte // the note with the message's id, if Record is nil
}

// A listing is a walk over the messages of one moment, and over the notes with the ids of messages,
// from the highest id down.
type listing struct {
	store *reader
	view  *notes.View
	at    []cursor // cursors of the messages, and of the notes of each day, the latest first
}

// A walker goes through keys backwards.
type walker interface {
	Last() bool
	Prev() bool
	Key() []byte
	Error() error
	Close() error
}

// A cursor is a walker and the id at its position. The id is 0 if the walker is at no id.
type cursor struct {
	walker
	messages *pebble.Iterator // the walker as a cursor over messages; nil: it is one over notes
	notes    *notes.Cursor    // the walker as a cursor over the notes of a day; nil: it is one over messages
	day      uint32
	prefix   int // octets of a key in front of the id
	id       uint64
}

// found records the id at the iterator's position, and skips keys that do not end with an id.
func (c *cursor) found(ok bool) {
	for ; ok; ok = c.Prev() {
		if key := c.Key()[c.prefix:]; len(key) == 8 {
			c.id = binary.BigEndian.Uint64(key)
			return
		}
	}
	c.id = 0
}

// List implements Lister.
func (r *reader) List(kind Kind, below uint64, since uint32, limit int, f func(*Listed) error) (last uint64, err error) {
	if err := r.monitor.failure(); err != nil {
		return 0, err
	}
	if below == 0 {
		below = noID
	}
	l := &listing{store: r, view: r.notes.View()}
	defer l.close()
	err = l.openMessages(below)
	for _, day := range slices.Backward(l.view.Days()) {
		if err == nil && day >= since {
			err = l.openNotes(day, appendNote(nil, kind, nil), below)
		}
	}
	if err == nil {
		last, err = l.walk(limit, f)
	}
	if err != nil {
		return 0, fmt.Errorf("cannot list messages: %w", r.monitor.readError(err))
	}
	return last, nil
}

// openMessages opens a cursor over the messages with ids below below.
func (l *listing) openMessages(below uint64) error {
	it, err := l.view.Reader().NewIter(
		&pebble.IterOptions{LowerBound: []byte{keyMessage}, UpperBound: appendKey(nil, keyMessage, below)},
	)
	if err != nil {
		return err
	}
	l.add(cursor{walker: it, messages: it, prefix: 1})
	return nil
}

// openNotes opens cursors over the notes of a day with keys that consist of a prefix and an id below below.
func (l *listing) openNotes(day uint32, prefix []byte, below uint64) error {
	all, err := l.view.Open(day, prefix, binary.BigEndian.AppendUint64(slices.Clone(prefix), below))
	for _, c := range all {
		l.add(cursor{walker: c, notes: c, day: day, prefix: len(prefix)})
	}
	return err
}

// add adds a cursor, at its last id.
func (l *listing) add(c cursor) {
	c.found(c.Last())
	l.at = append(l.at, c)
}

func (l *listing) close() {
	for _, c := range l.at {
		_ = c.Close()
	}
	_ = l.view.Close()
}

// walk calls f for each id at the cursors, the highest first. It returns the last id, or 0 if there
// are no more.
func (l *listing) walk(limit int, f func(*Listed) error) (last uint64, err error) {
	for ; ; limit-- {
		var e Listed
		for _, c := range l.at {
			e.ID = max(e.ID, c.id)
		}
		switch {
		case e.ID == 0:
			return 0, l.fault()
		case limit == 0:
			return last, l.fault()
		}
		there, err := l.read(&e)
		if err == nil && there {
			err = f(&e)
		}
		if err != nil {
			return 0, err
		}
		if last = e.ID; !there {
			limit++
		}
		for i := range l.at {
			if c := &l.at[i]; c.id == last {
				c.found(c.Prev())
			}
		}
	}
}

// read reads the message, or the note, with the id of e. It returns false if all notes with the id were removed.
func (l *listing) read(e *Listed) (there bool, err error) {
	if l.at[0].id != e.ID {
		return l.readNote(e)
	}
	if e.Record, err = l.at[0].messages.ValueAndErr(); err == nil {
		err = l.store.open(e.ID, &e.Record)
	}
	if err != nil || !l.store.summary.states.maybe(e.ID) {
		return true, err
	}
	state, closer, err := l.view.Reader().Get(appendKey(nil, keyState, e.ID))
	if errors.Is(err, pebble.ErrNotFound) {
		return true, nil
	}
	if err == nil {
		e.State, err = slices.Clone(state), closer.Close()
	}
	return true, err
}

// readNote reads the note with the id of e from the first cursor that has it, unless it was removed: then the first of an
// earlier day counts.
func (l *listing) readNote(e *Listed) (there bool, err error) {
	removed := uint32(math.MaxUint32) // day whose note was removed
	for i := range l.at {
		c := &l.at[i]
		if c.id != e.ID || c.day == removed {
			continue
		}
		value, gone, err := c.notes.Value()
		if err != nil || !gone {
			e.Note = value
			return true, err
		}
		removed = c.day
	}
	return false, nil
}

// fault returns the error of a cursor that has failed, or nil.
func (l *listing) fault() error {
	for _, c := range l.at {
		if err := c.Error(); err != nil {
			return err
		}
	}
	return nil
}
