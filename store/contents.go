package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"pmg/store/journal"
	"pmg/store/notes"
)

// A contents reads everything in a store, as it is at one moment.
type contents struct {
	reader  *reader
	writer  *writer
	summary *summary
	monitor *monitor
}

func contentsOf(s *durable) contents { return contents{s.reader, s.writer, &s.summary, s.monitor} }

// sum returns a hash of the whole store, and the place of the last record that the store has.
func (c contents) sum() (at journal.Seq, sum string, err error) {
	at, view, err := c.view()
	if err != nil {
		return 0, "", err
	}
	defer view.Close()
	h := sha256.New()
	for _, day := range view.Days() {
		begin := notes.AppendDay(nil, notes.Plain, day) // as all notes had it before there were tables
		err := view.Each(day, nil, func(key, value []byte) error {
			addSum(h, append(slices.Clip(begin), key...), value)
			return nil
		})
		if err != nil {
			return 0, "", err
		}
	}
	for _, kind := range []byte{keyEvent, keyMessage, keyState} {
		err := c.each(view, kind, func(key, value []byte) error {
			addSum(h, key, value)
			return nil
		})
		if err != nil {
			return 0, "", err
		}
	}
	return at, hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// view returns the store at one moment, and the place of the last record that it has.
func (c contents) view() (journal.Seq, *notes.View, error) {
	c.writer.writing.Lock()
	defer c.writer.writing.Unlock()
	if c.summary.isBehind() {
		return 0, nil, ErrBehind
	}
	if err := c.writer.ask(request{move: everything}); err != nil {
		return 0, nil, err
	}
	return c.summary.get().applied, c.reader.notes.View(), nil
}

// each calls pass for the entries of a kind, other than notes, in the order of their keys. pass may use
// the octets only until it returns.
func (c contents) each(view *notes.View, kind byte, pass func(key, value []byte) error) error {
	it, err := view.Reader().NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return c.monitor.readError(err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return c.monitor.readError(err)
		}
		if err := pass(it.Key(), value); err != nil {
			return err
		}
	}
	return c.monitor.readError(it.Error())
}

// addSum adds a key and its value to the hash.
func addSum(h hash.Hash, key, value []byte) {
	var length [8]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(key)))
	binary.BigEndian.PutUint32(length[4:], uint32(len(value)))
	_, _ = h.Write(length[:]) // a hash never returns an error
	_, _ = h.Write(key)
	_, _ = h.Write(value)
}
