package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A Lister is a store that can list all messages in the order of their ids. A store that is not
// durable is not a Lister, because its messages are only in lanes.
type Lister interface {
	// List passes messages to f in descending order of their ids, beginning with the highest id below
	// below, or with the highest id if below is 0. For a stored message it passes the entry. For other
	// messages it passes the note of the kind whose key is the id in eight octets; of several notes it
	// passes the one of the latest day. Notes of days before since are ignored. List stops after limit
	// ids and returns the last id, or 0 if there are no more. The result reflects one moment. f may use
	// a Listed only until f returns. An error of f ends the list and is returned.
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
	view  *pebble.Snapshot
	at    []cursor // cursors of the messages, and of the notes of each day, the latest first
}

// A cursor is an iterator and the id at its position. The id is 0 if the iterator is at no id.
type cursor struct {
	*pebble.Iterator
	prefix int // octets of a key in front of the id
	id     uint64
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
	days := r.summary.noteDays()
	if below == 0 {
		below = noID
	}
	l := &listing{store: r, view: r.db.NewSnapshot()}
	defer l.close()
	err = l.open([]byte{keyMessage}, below)
	for _, day := range slices.Backward(days) {
		if err == nil && day >= since {
			err = l.open(appendNote(appendDay(nil, day), kind, nil), below)
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

// open opens a cursor over the keys that consist of a prefix and an id below below.
func (l *listing) open(prefix []byte, below uint64) error {
	it, err := l.view.NewIter(
		&pebble.IterOptions{LowerBound: prefix, UpperBound: binary.BigEndian.AppendUint64(slices.Clone(prefix), below)},
	)
	if err != nil {
		return err
	}
	c := cursor{Iterator: it, prefix: len(prefix)}
	c.found(it.Last())
	l.at = append(l.at, c)
	return nil
}

func (l *listing) close() {
	for _, c := range l.at {
		_ = c.Close()
	}
	_ = l.view.Close()
}

// walk passes the ids at the cursors to f, the highest first. It returns the last id, or 0 if there
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
		if err = l.read(&e); err == nil {
			err = f(&e)
		}
		if err != nil {
			return 0, err
		}
		last = e.ID
		for i := range l.at {
			if c := &l.at[i]; c.id == last {
				c.found(c.Prev())
			}
		}
	}
}

// read reads the message, or the note, with the id of e. It reads from the first cursor whose
// position has this id.
func (l *listing) read(e *Listed) (err error) {
	if l.at[0].id != e.ID {
		at := slices.IndexFunc(l.at, func(c cursor) bool { return c.id == e.ID })
		e.Note, err = l.at[at].ValueAndErr()
		return err
	}
	if e.Record, err = l.at[0].ValueAndErr(); err == nil {
		err = l.store.open(e.ID, &e.Record)
	}
	if err != nil || !l.store.summary.states.maybe(e.ID) {
		return err
	}
	state, closer, err := l.view.Get(appendKey(nil, keyState, e.ID))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err == nil {
		e.State, err = slices.Clone(state), closer.Close()
	}
	return err
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
