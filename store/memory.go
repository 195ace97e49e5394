package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"pmg/store/notes"
)

// The limits of a store in memory, without which it would grow forever.
const (
	maxAside        = 64 << 20 // octets of messages that are put aside
	maxMemoryNotes  = 1 << 21  // number of notes; the oldest half is dropped
	maxMemoryEvents = 1 << 16  // number of events; the oldest are dropped
)

// errAsideFull is the error if a store in memory has reached its limit of messages that are put
// aside.
var errAsideFull = errors.New("too many messages are put aside; delete or retry some of them, or use an engine that is durable")

// A memory is the engine that is not durable. Messages in a lane exist only in the gateway's
// queues.
type memory struct {
	mu      sync.Mutex
	aside   map[uint64]asideMessage
	ids     []uint64 // sorted ids of aside
	octets  int      // octets of aside
	last    uint64   // the highest id that was ever put
	notes   *notes.Notes
	events  []event
	commits int64
	waiting int64 // number of messages put and not deleted
}

type asideMessage struct{ record, state []byte }

func (m asideMessage) size() int { return len(m.record) + len(m.state) }

type event struct {
	number uint64
	line   []byte
}

// NewMemory returns an empty store that is not durable.
func NewMemory() Store {
	return &memory{aside: map[uint64]asideMessage{}, notes: notes.InMemory(maxMemoryNotes)}
}

func (s *memory) Durable() bool { return false }

// Commit checks the whole batch before it carries out the first operation, because a batch must not
// be carried out partly.
func (s *memory) Commit(b *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isTooMuch(b) {
		return fmt.Errorf("cannot commit a batch: %w", errAsideFull)
	}
	for _, o := range b.ops {
		s.do(b, o)
	}
	s.commits++
	return nil
}

// isTooMuch reports whether a batch is refused because it puts too many messages aside. Only a
// batch with messages of peers is refused: the peers' messages fail, and the remaining changes
// succeed in the next batch. Messages that come from a lane are never refused, because they would
// be lost.
func (s *memory) isTooMuch(b *Batch) bool {
	if !slices.ContainsFunc(b.ops, func(o op) bool { return o.kind == opPut && !o.stays }) {
		return false
	}
	octets := s.octets
	sizes := map[uint64]int{} // sizes of messages that the batch puts aside or deletes
	for _, o := range b.ops {
		if o.kind != opKeep && o.kind != opDelete {
			continue
		}
		was, ok := sizes[o.id]
		if !ok {
			was = s.aside[o.id].size()
		}
		is := 0
		if o.aside {
			is = o.len
		}
		sizes[o.id] = is
		octets += is - was
	}
	return octets > maxAside && octets > s.octets
}

func (s *memory) do(b *Batch, o op) {
	switch o.kind {
	case opPut:
		s.last = max(s.last, o.id)
		s.waiting++
	case opReplace:
		if m, ok := s.aside[o.id]; ok {
			s.drop(o.id)
			s.keep(o.id, slices.Clone(b.valueOf(o)), m.state)
		}
	case opKeep:
		s.drop(o.id)
		if o.aside {
			s.keep(o.id, slices.Clone(b.valueOf(o)), slices.Clone(b.keyOf(o)))
		}
	case opDelete:
		s.drop(o.id)
		s.waiting--
	case opNote:
		_ = s.notes.Put(nil, uint32(o.id), b.keyOf(o), b.valueOf(o)) // notes that are only in memory have no errors
	case opErase:
		_ = s.notes.Remove(nil, uint32(o.id), b.keyOf(o))
	case opForgetBefore:
		_ = s.notes.Forget(nil, uint32(o.id))
	case opEvent:
		s.events = append(s.events, event{o.id, slices.Clone(b.valueOf(o))})
		if len(s.events) > maxMemoryEvents {
			pop(&s.events)
		}
	case opDropEvents:
		for len(s.events) > 0 && s.events[0].number <= o.id {
			pop(&s.events)
		}
	}
}

func (s *memory) keep(id uint64, record, state []byte) {
	s.last = max(s.last, id) // a message that comes from a lane was not put before
	at, _ := slices.BinarySearch(s.ids, id)
	s.ids = slices.Insert(s.ids, at, id)
	s.aside[id] = asideMessage{record, state}
	s.octets += s.aside[id].size()
}

func (s *memory) drop(id uint64) {
	m, ok := s.aside[id]
	if !ok {
		return
	}
	delete(s.aside, id)
	at, _ := slices.BinarySearch(s.ids, id)
	s.ids = slices.Delete(s.ids, at, at+1)
	s.octets -= m.size()
}

func (s *memory) Get(id uint64, e *Entry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.aside[id]
	if !ok {
		return false, nil
	}
	e.ID, e.Record, e.State = id, append(e.Record[:0], m.record...), append(e.State[:0], m.state...)
	return true, nil
}

func (s *memory) Scan(from uint64, limit int, f func(*Entry) error) (uint64, error) {
	for ; limit > 0; limit-- {
		id, m, ok := s.asideFrom(from)
		if !ok {
			return 0, nil
		}
		if err := f(&Entry{ID: id, Record: m.record, State: m.state}); err != nil {
			return 0, err
		}
		from = id + 1
	}
	return from, nil
}

// asideFrom returns the first message that is put aside and whose id is from or higher. The
// function that Scan calls may use the store, so it is called without the lock.
func (s *memory) asideFrom(from uint64) (uint64, asideMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.ids, from)
	if at == len(s.ids) {
		return 0, asideMessage{}, false
	}
	return s.ids[at], s.aside[s.ids[at]], true
}

func (s *memory) LastID() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *memory) Lookup(kind Kind, key []byte) ([]byte, bool, error) {
	return s.notes.Lookup(appendNote(nil, kind, key))
}

func (s *memory) Notes(kind Kind, from []byte, limit int, f func(key, value []byte) error) error {
	return eachOf(s.notes, kind, from, limit, f)
}

func (s *memory) Events(after uint64, limit int, f func(number uint64, line []byte) error) (uint64, error) {
	for _, e := range s.eventsAfter(after, limit) {
		if err := f(e.number, e.line); err != nil {
			return after, err
		}
		after = e.number
	}
	return after, nil
}

func (s *memory) eventsAfter(after uint64, limit int) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearchFunc(s.events, after+1, func(e event, number uint64) int { return cmp.Compare(e.number, number) })
	return slices.Clone(s.events[at : at+min(limit, len(s.events)-at)])
}

func (s *memory) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Engine: "memory", Commits: s.commits, Messages: max(s.waiting, 0)}
}

// Tidy implements Store. It does nothing, because removed data takes no memory.
func (s *memory) Tidy() {}

func (s *memory) Backup(string) error {
	return errors.New("cannot back up the store: it is in memory; use an engine that is durable")
}

func (s *memory) Close() error { return nil }

// pop removes and returns the first item of a queue. The memory in front of the rest is only freed
// when the queue grows.
func pop[T any](queue *[]T) T {
	item := (*queue)[0]
	clear((*queue)[:1])
	*queue = (*queue)[1:]
	return item
}
