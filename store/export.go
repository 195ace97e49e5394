package store

import (
	"errors"
	"fmt"

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
	c := contentsOf(s)
	_, view, err := c.view()
	if err != nil {
		return "", err
	}
	x := exporter{contents: c, pass: pass}
	if err = errors.Join(x.export(view), view.Close()); err != nil {
		return "", fmt.Errorf("cannot export the store in %s: %w", dir, err)
	}
	_, sum, err = c.sum()
	return sum, err
}

// An exporter makes batches of the contents of a store.
type exporter struct {
	contents contents
	batch    Batch
	pass     func(*Batch) error
}

func (x *exporter) export(view *notes.View) error {
	for _, day := range view.Days() {
		err := view.Each(day, nil, func(key, value []byte) error { return x.add(opNote, uint64(day), key, value) })
		if err != nil {
			return err
		}
	}
	for _, kind := range []byte{keyMessage, keyState, keyEvent} {
		if err := x.contents.each(view, kind, func(key, value []byte) error { return x.entry(kind, key, value) }); err != nil {
			return err
		}
	}
	if err := x.lastID(); err != nil || x.batch.Len() == 0 {
		return err
	}
	return x.pass(&x.batch)
}

// entry adds a message, a state or an event.
func (x *exporter) entry(kind byte, key, value []byte) error {
	number, ok := numberOf(key)
	switch {
	case !ok:
		return fmt.Errorf("the key %q has a wrong length", key)
	case kind == keyMessage:
		return x.add(opPut, number, nil, value)
	case kind == keyState:
		return x.add(opKeep, number, value, nil)
	}
	return x.add(opEvent, number, nil, value)
}

// add adds an operation with the octets that the store has, and passes the batch if it is large enough.
func (x *exporter) add(kind opKind, number uint64, key, value []byte) error {
	b := &x.batch
	b.asIs = true // otherwise messages that were stored before there was a key would differ
	at := len(b.octets)
	b.octets = append(append(b.octets, key...), value...)
	b.add(op{kind: kind, id: number}, at, len(key))
	if b.Size() < exportOctets {
		return nil
	}
	defer b.Reset()
	return x.pass(b)
}

// lastID adds the last id of a message, so that no id is given a second time. Its message may have ended.
func (x *exporter) lastID() error {
	last := x.contents.reader.LastID()
	if last == 0 {
		return nil
	}
	exists, err := x.contents.reader.Get(last, &Entry{})
	if err == nil && !exists {
		x.batch.Put(&sms.Message{ID: last}, Lane{})
		x.batch.Delete(last, 0)
	}
	return err
}
