package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"pmg/sms"
	"pmg/store/notes"
)

// exportOctets is how large a batch of Export is at least, but for the last one.
const exportOctets = 256 << 10

// Export passes everything that is in the store in a directory, which no gateway has open, as batches.
// Committed one after the other to an empty store they make it the same. sum is that of Copy.Sum. The
// batch is reused.
func Export(dir string, o Options, pass func(*Batch) error) (sum string, err error) {
	s := newDurable(dir, o)
	if err := s.open(o); err != nil {
		return "", fmt.Errorf("cannot open the store in %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, view, err := viewOf(s)
	if err != nil {
		return "", err
	}
	x := exporter{pass: pass}
	err = x.notes(view)
	for _, kind := range []byte{keyMessage, keyState, keyEvent} {
		if err == nil {
			err = x.entries(view.Reader(), kind)
		}
	}
	if last := s.LastID(); err == nil && last > 0 { // ids below were given already, also those of messages that have ended
		if found, err := s.Get(last, &Entry{}); err == nil && !found {
			x.batch.Put(&sms.Message{ID: last}, Lane{})
			x.batch.Delete(last, 0)
		}
	}
	if err == nil && x.batch.Len() > 0 {
		err = pass(&x.batch)
	}
	if err = errors.Join(err, view.Close()); err != nil {
		return "", fmt.Errorf("cannot export the store in %s: %w", dir, err)
	}
	_, sum, err = sumOf(s)
	return sum, err
}

// An exporter makes batches of the entries of a store.
type exporter struct {
	batch Batch
	pass  func(*Batch) error
}

// added passes the batch if it is large enough.
func (x *exporter) added() error {
	if x.batch.Size() < exportOctets {
		return nil
	}
	defer x.batch.Reset()
	return x.pass(&x.batch)
}

func (x *exporter) notes(view *notes.View) error {
	for _, day := range view.Days() {
		err := view.Each(day, nil, func(key, value []byte) error {
			x.batch.put(opNote, uint64(day), key, value)
			return x.added()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// entries adds the messages, states or events.
func (x *exporter) entries(from pebble.Reader, kind byte) error {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		number, ok := numberOf(it.Key())
		switch {
		case !ok:
			return fmt.Errorf("the key %q has a wrong length", it.Key())
		case kind == keyMessage:
			x.batch.put(opPut, number, nil, value)
		case kind == keyState:
			x.batch.put(opKeep, number, value, nil)
		default:
			x.batch.put(opEvent, number, nil, value)
		}
		if err := x.added(); err != nil {
			return err
		}
	}
	return it.Error()
}

// put adds an operation with a key and a value that another store has.
func (b *Batch) put(kind opKind, number uint64, key, value []byte) {
	at := len(b.octets)
	b.octets = append(append(b.octets, key...), value...)
	b.add(op{kind: kind, id: number}, at, len(key))
}
