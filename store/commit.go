package store

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// A request is what the goroutine that writes is asked for.
type request uint8

const (
	apply request = iota // the batch
	flush                // the batch, and then the memory table, so that the log can be dropped
)

// A writer is the goroutine that writes to pebble, and its batch. Pebble's calls may never
// return after a fault, so nobody else makes them.
type writer struct {
	writing  sync.Mutex // held while the batch is filled, and while a request is carried out
	noSync   bool
	broken   bool // pebble has panicked, and may hold its locks; read it when ended is closed
	batch    *pebble.Batch
	key      []byte
	requests chan request
	results  chan error
	ended    chan struct{}
}

// run carries out requests until there are no more.
func (w *writer) run(db *pebble.DB, f *fault) {
	defer close(w.ended)
	for r := range w.requests {
		err := w.carryOut(db, r)
		if failed := f.get(); failed != nil {
			err = failed
		}
		select {
		case w.results <- err:
		case <-f.done:
		}
	}
}

// carryOut recovers what pebble panics with where its log cannot be written.
func (w *writer) carryOut(db *pebble.DB, r request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.broken, err = true, fmt.Errorf("%v", p)
		}
	}()
	sync := pebble.Sync
	if w.noSync {
		sync = pebble.NoSync
	}
	if err = db.Apply(w.batch, sync); err == nil && r == flush {
		_, err = db.AsyncFlush()
	}
	return err
}

// ask has the writing goroutine do something, and waits for it. The caller holds writing.
func (s *durable) ask(r request) error {
	select {
	case s.requests <- r:
	case <-s.fault.done:
		return s.failure()
	}
	select {
	case err := <-s.results:
		if err != nil {
			s.fault.set(err)
		}
	case <-s.fault.done:
	}
	return s.failure()
}

// Commit writes a batch with one synced write. Nothing of it is done after an error, and then
// no later batch is taken, because it is not known what is on the disk.
func (s *durable) Commit(b *Batch) error {
	if err := s.failure(); err != nil {
		return err
	}
	if b.Len() == 0 {
		return nil
	}
	return s.commit(b)
}

// commit writes a batch, which may have nothing but the marks.
func (s *durable) commit(b *Batch) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.newBatch()
	m, lowest := s.reckon(b)
	for _, o := range b.ops {
		if err := s.do(b, o); err != nil {
			return fmt.Errorf("cannot commit a batch: %w", err)
		}
	}
	s.key = m.append(append(s.key[:0], keyMarks))
	if err := s.batch.Set(s.key[:1], s.key[1:], nil); err != nil {
		return fmt.Errorf("cannot commit a batch: %w", err)
	}
	if err := s.ask(apply); err != nil {
		return fmt.Errorf("cannot commit a batch: %w", err)
	}
	s.commits.Add(1)
	s.deleted.Add(b.deleted())
	s.settle(b, m, lowest)
	return nil
}

// newBatch empties pebble's batch. The caller holds writing.
func (s *durable) newBatch() *pebble.Batch {
	if s.batch == nil {
		s.batch = s.db.NewBatch(pebble.WithMaxRetainedSizeBytes(maxBatchKept))
	}
	s.batch.Reset()
	return s.batch
}

// reckon returns what the marks are after a batch, and the lowest id that it puts.
func (s *durable) reckon(b *Batch) (m marks, lowest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, lowest = s.marks, noID
	for _, o := range b.ops {
		switch o.kind {
		case opPut:
			m.last, lowest = max(m.last, o.id), min(lowest, o.id)
			m.messages++
		case opDelete:
			m.messages--
		}
	}
	m.messages, m.low = max(m.messages, 0), min(m.low, lowest)
	return m, lowest
}

// settle notes what a batch that was committed has changed. Tidy may have raised the low mark
// meanwhile.
func (s *durable) settle(b *Batch, m marks, lowest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.last, s.marks.messages = m.last, m.messages
	s.marks.low, s.lowPut = min(s.marks.low, lowest), min(s.lowPut, lowest)
	for _, o := range b.ops {
		switch o.kind {
		case opNote:
			if at, known := slices.BinarySearch(s.days, uint32(o.id)); !known {
				s.days = slices.Insert(slices.Clone(s.days), at, uint32(o.id))
			}
		case opForgetBefore:
			at, _ := slices.BinarySearch(s.days, uint32(o.id))
			s.days = s.days[at:]
		case opEvent:
			s.event = max(s.event, o.id)
		}
	}
}

// do adds an operation to pebble's batch.
func (s *durable) do(b *Batch, o op) error {
	t := s.batch
	switch o.kind {
	case opPut, opReplace:
		s.key = appendKey(s.key[:0], keyMessage, o.id)
		return t.Set(s.key, b.valueOf(o), nil)
	case opKeep:
		s.states.add(o.id)
		s.key = appendKey(s.key[:0], keyState, o.id)
		return t.Set(s.key, b.keyOf(o), nil)
	case opDelete:
		s.key = appendKey(s.key[:0], keyMessage, o.id)
		if err := t.DeleteSized(s.key, uint32(max(o.size, 0)), nil); err != nil || !s.states.maybe(o.id) {
			return err
		}
		s.key[0] = keyState
		return t.Delete(s.key, nil)
	case opNote:
		s.key = append(appendDay(s.key[:0], uint32(o.id)), b.keyOf(o)...)
		return t.Set(s.key, b.valueOf(o), nil)
	case opForgetBefore:
		s.key = appendDay(appendDay(s.key[:0], 0), uint32(o.id))
		return t.DeleteRange(s.key[:5], s.key[5:], nil)
	case opEvent:
		s.key = appendKey(s.key[:0], keyEvent, o.id)
		return t.Set(s.key, b.valueOf(o), nil)
	default: // opDropEvents
		return s.dropEvents(o.id)
	}
}

// dropEvents begins where the last time ended: pebble cuts ranges that overlap in a memory table into
// pieces, of which each has all ranges that it lies in, and does so again at each read behind a change.
func (s *durable) dropEvents(upTo uint64) error {
	first := s.dropped + 1
	if upTo < first {
		return nil
	}
	s.dropped = upTo
	s.key = appendKey(appendKey(s.key[:0], keyEvent, first), keyEvent, upTo+1)
	return s.batch.DeleteRange(s.key[:9], s.key[9:], nil)
}
