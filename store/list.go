package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A Lister is a store that lists all messages in the order of their ids. A store that is not durable is none, because
// its messages are in lanes.
type Lister interface {
	// List passes what the store has of messages to f, the highest id first, from the first that is below the one given
	// (0: from the highest): the entry of a message that it keeps, and of the others the note of a kind whose key is the id, in
	// eight octets, that of the latest day if there are several. Days before since are left out. It stops behind
	// limit ids, and returns the last of them, or 0 when there are no more. All is of one moment. What is passed is f's
	// until it returns; an error of f ends the list, which returns it.
	List(kind Kind, below uint64, since uint32, limit int, f func(*Listed) error) (last uint64, err error)
}

// A Listed is what a store has of a message.
type Listed struct {
	Entry
	Note []byte // with a Record of nil: the note of its id
}

// A listing walks back over the messages of a moment, and over the notes of their ids.
type listing struct {
	store *reader
	view  *pebble.Snapshot
	at    []cursor // of the messages, and of each day, the latest first
}

// A cursor is an iterator and the id at which it stands; 0: at none.
type cursor struct {
	*pebble.Iterator
	prefix int // octets of a key before the id
	id     uint64
}

// found records where the iterator stands, and passes over keys that do not end with an id.
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

// open opens a cursor over the ids behind a prefix.
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

// walk passes the ids at which the cursors stand, the highest first.
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

// read reads the message of an id from the first cursor that stands there.
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

// fault returns the error with which a cursor has ended.
func (l *listing) fault() error {
	for _, c := range l.at {
		if err := c.Error(); err != nil {
			return err
		}
	}
	return nil
}
