package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"pmg/store/notes"
)

// An Eraser is a store from which single notes are removed for good.
type Eraser interface {
	// EachNote calls f for each note that exists at the call. It stops when f returns an error. f may
	// change the notes with Batch.Note and Batch.Erase.
	EachNote(ctx context.Context, f func(*Note) error) error
	// IsStill reports whether a note is unchanged since it was passed.
	IsStill(*Note) (bool, error)
	// Purge removes data from the disk that was deleted or replaced before. It writes most of the store
	// again. change must commit a change, which may be empty.
	Purge(ctx context.Context, change func() error) error
}

// A Note is a note with its day. The function that it is passed to may use its octets only until
// the function returns.
type Note struct {
	Kind       Kind
	Key, Value []byte
	Day        uint32
}

// EraserOf returns the Eraser of a store, or nil if the store has no Eraser.
func EraserOf(s Store) Eraser {
	switch s := s.(type) {
	case *durable:
		return &diskEraser{s}
	case *Copy:
		return &diskEraser{s.disk}
	case *memory:
		return &memoryEraser{s}
	}
	return nil
}

// A diskEraser is the Eraser of a durable store.
type diskEraser struct{ disk *durable }

// EachNote implements Eraser.
func (e *diskEraser) EachNote(ctx context.Context, f func(*Note) error) error {
	if err := e.disk.monitor.failure(); err != nil {
		return err
	}
	return eachNote(ctx, e.disk.reader.notes, func(v *Note) error {
		if err := openNote(e.disk.reader, appendNote(nil, v.Kind, v.Key), &v.Value); err != nil {
			return err
		}
		return f(v)
	})
}

// eachNote does for notes what Eraser.EachNote promises.
func eachNote(ctx context.Context, all *notes.Notes, f func(*Note) error) error {
	view := all.View()
	defer view.Close()
	for _, day := range view.Days() {
		err := view.Each(day, nil, func(key, value []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if kind, rest, ok := bytes.Cut(key, []byte{0}); ok {
				return f(&Note{Kind(kind), rest, value, day})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// IsStill implements Eraser.
func (e *diskEraser) IsStill(v *Note) (bool, error) {
	r := e.disk.reader
	return isStill(r.notes, v, func(key []byte, value *[]byte) error { return openNote(r, key, value) })
}

// isStill reports whether a note is unchanged. open decrypts its value.
func isStill(all *notes.Notes, v *Note, open func(key []byte, value *[]byte) error) (bool, error) {
	key := appendNote(nil, v.Kind, v.Key)
	value, ok, err := all.Get(v.Day, key)
	if err == nil && ok {
		err = open(key, &value)
	}
	return ok && bytes.Equal(value, v.Value), err
}

// A wiper is a journal that can overwrite files which are not needed any more.
type wiper interface {
	Renew()      // the next record begins a new file
	Wipe() error // overwrites the files whose records are not needed any more
}

// Purge implements Eraser.
func (e *diskEraser) Purge(ctx context.Context, change func() error) error {
	e.disk.copying.Lock()
	defer e.disk.copying.Unlock()
	j, wipes := e.disk.journal.(wiper)
	if wipes {
		if err := j.Wipe(); err != nil { // the next file may have old records too
			return err
		}
		j.Renew()
	}
	err := change()
	if err == nil {
		err = e.disk.move()
	}
	if err == nil {
		err = e.disk.noteWriter.writeAll(e.disk.summary.get().applied)
	}
	if err == nil {
		err = e.disk.reader.notes.MergeAll(ctx)
	}
	if err == nil {
		err = e.disk.writeMarks()
	}
	if err == nil {
		err = e.disk.flush()
	}
	if err == nil {
		err = e.compact(ctx)
	}
	if err == nil && wipes {
		e.disk.writer.trim()
		err = j.Wipe()
	}
	if err != nil {
		return fmt.Errorf("cannot remove from the disk what was deleted: %w", err)
	}
	return e.disk.monitor.failure()
}

// compact writes the tables again. It uses a goroutine of its own, because after a fault pebble's
// calls may never return.
func (e *diskEraser) compact(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		var err error
		for _, kind := range []byte{keyNote, keyTimed, keyEvent, keyMessage, keyState} {
			err = errors.Join(err, e.disk.db.Compact(ctx, []byte{kind}, []byte{kind + 1}, false))
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-e.disk.monitor.fault.done:
		return e.disk.monitor.failure()
	}
}

// A memoryEraser is the Eraser of a store in memory.
type memoryEraser struct{ memory *memory }

// EachNote implements Eraser.
func (e *memoryEraser) EachNote(ctx context.Context, f func(*Note) error) error {
	return eachNote(ctx, e.memory.notes, f)
}

// IsStill implements Eraser.
func (e *memoryEraser) IsStill(v *Note) (bool, error) {
	return isStill(e.memory.notes, v, func([]byte, *[]byte) error { return nil })
}

// Purge implements Eraser. It does nothing, because a store in memory has nothing on disk.
func (*memoryEraser) Purge(context.Context, func() error) error { return nil }
