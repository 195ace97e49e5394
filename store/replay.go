package store

import (
	"errors"
	"fmt"

	"pmg/journal"
	"pmg/journal/file"
)

// journalDir is where the journal is, in the directory of the store.
const journalDir = "journal"

func (s *durable) journalDir() string { return s.guard.FS.PathJoin(s.monitor.dir, journalDir) }

// openJournal opens the journal, which needs nothing that pebble has on the disk.
func (s *durable) openJournal(o Options) (err error) {
	s.journal, err = file.Open(s.guard.FS, s.journalDir(),
		file.Options{After: s.summary.marks.moved, Segment: o.segment})
	return s.damaged(err, s.summary.marks.moved)
}

// damaged marks an error that means damage of the journal, where the tables have the records up to a place.
func (s *durable) damaged(err error, applied journal.Seq) error {
	d := (*file.Damage)(nil)
	if !errors.As(err, &d) {
		return err
	}
	if d.First == applied+1 { // a manifest that has lost its end does not name the latest tables
		err = fmt.Errorf("%w, or %s, which says that the tables have those up to %d, has lost its end", err, s.manifest, applied)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// replay does what the journal has and pebble has not on the disk.
func (s *durable) replay() error {
	var b Batch
	err := s.journal.Follow(s.summary.marks.moved, func(seq journal.Seq, _ journal.ID, record []byte) error {
		whole, err := b.readPiece(record)
		if err == nil && whole {
			err = s.writer.askAlone(request{changes: &b, at: seq})
		}
		if err != nil {
			return fmt.Errorf("record %d of the journal: %w", seq, err)
		}
		return nil
	})
	return s.damaged(err, s.summary.marks.moved)
}
