package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Tidy raises the low mark to the first message. Deleted messages stay in the tables for a
// while, and a scan that began before them would pass over each.
func (s *durable) Tidy() {
	if s.fault.get() != nil || s.isRemoved() {
		return
	}
	s.ballast.lay()
	s.seal()
	empty := !s.seek() && s.recount()
	if empty && s.states.used.Load() {
		s.clearStates()
	}
	compacting := s.db.Metrics().Compact.NumInProgress > 0
	if !s.shrinking.due(empty, s.commits.Load(), s.deleted.Load(), s.tableOctets(), compacting) {
		return
	}
	if err := (shrinker{s}).shrink(); err != nil {
		s.log.Error().Err(err).Msg("cannot make the store smaller")
	}
}

// tableOctets returns how many octets the tables have that count.
func (s *durable) tableOctets() int64 { return int64(s.db.Metrics().Table.Local.LiveSize) }

// recount reports whether there is no message, and corrects the count, which is wrong if a
// message was put twice.
func (s *durable) recount() bool {
	s.mu.Lock()
	none := s.marks.messages == 0
	s.mu.Unlock()
	if none {
		return true
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.seek() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.messages = 0
	return true
}

// clearStates forgets which messages may have states if there is no message: after about a million
// of them each delete would write twice, and each read look twice.
func (s *durable) clearStates() {
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.seek() {
		s.states.clear()
	}
}

// seal notes what of the store was synced.
func (s *durable) seal() {
	if err := s.guard.sealer.write(); err != nil {
		s.log.Warn().Err(err).Msg("cannot note what of the store was synced; damage may not be noticed")
	}
}

// seek sets the low mark to the first message, or behind the last if there is none. It reports
// whether there is one, or may be.
func (s *durable) seek() bool {
	s.mu.Lock()
	low, last := s.marks.low, s.marks.last
	s.lowPut = noID
	s.mu.Unlock()
	id, ok, err := s.first(keyMessage, low)
	if err != nil {
		s.log.Error().Err(err).Msg("cannot find the first message of the store")
		return true
	}
	if !ok {
		id = last + 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks.low = min(id, s.lowPut)
	return ok
}

func (s *durable) Stats() Stats {
	st := Stats{
		Engine:  "pebble",
		Octets:  int64(s.db.Metrics().DiskSpaceUsage()) + s.ballast.octets(),
		Commits: s.commits.Load(), Syncs: s.guard.syncs.Load(),
		Full:    s.ballast.inUse.Load(),
		Stalled: s.stalled.Load(), Stalls: s.stalls.Load(), Slow: s.slow.Load(),
	}
	s.mu.Lock()
	st.Messages = s.marks.messages
	s.mu.Unlock()
	if p := s.problem.Load(); p != nil {
		st.Problem = *p
	}
	if d := s.damage.Load(); d != nil {
		st.Problem = *d
	}
	if err := s.fault.get(); err != nil {
		st.Problem = err.Error()
	}
	return st
}

// Backup links the tables and copies the logs. An error of the disk that the copy is on is no fault
// of the store's.
func (s *durable) Backup(dir string) error {
	if err := s.failure(); err != nil {
		return err
	}
	if err := s.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("cannot back up the store to %s: %w", dir, err)
	}
	return s.failure()
}
