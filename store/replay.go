package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
	"pmg/store/journal/file"
)

// journalDir is where the journal is, in the directory of the store.
const journalDir = "journal"

func (s *durable) journalDir() string { return s.guard.FS.PathJoin(s.monitor.dir, journalDir) }

// openJournal opens the journal. Records that pebble has are not asked for.
func (s *durable) openJournal(o Options) (err error) {
	if err := s.checkOrigin(o.Origin); err != nil || o.Journal != nil {
		s.journal = o.Journal
		return err
	}
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
			b.at = seq
			err = s.writer.askAlone(request{changes: &b, replays: true})
		}
		if err != nil {
			return fmt.Errorf("record %d of the journal: %w", seq, err)
		}
		return nil
	})
	return s.damaged(err, s.summary.marks.moved)
}

// A redo does again what the journal of a store has, for a check or a repair, which do not open the store.
type redo struct {
	writer writer // of which only what is young, and the batch, are used
	marks  marks  // in the tables
	to     *pebble.Batch
	batch  Batch

	before  bool            // the tables have the changes of the records so far that are for them
	gone    map[uint64]bool // messages that these deleted
	dropped uint64          // number of the last event that these dropped
	day     uint32          // in front of which these forgot notes
}

// redoInto adds to a batch what is to be done to the tables of a database so that they have what the journal in a store's
// directory has. It returns what cannot be read. An error about a record is passed to bad, whose error ends it.
//
// There may be tables that do not count any more, with messages whose deletion is in none. So the records that are older
// than the tables are read as well, if they are there: they say again what they have removed.
func redoInto(
	to *pebble.Batch, db *pebble.DB, m marks, fs vfs.FS, dir string, bad func(journal.Seq, error) error,
) ([]*file.Damage, error) {
	s := &summary{moved: noID} // each event may be in a table
	s.states.upTo = noID       // and each state
	r := &redo{
		writer: writer{young: newYoung(), summary: s, batch: db.NewBatch()},
		marks:  m, to: to, before: true, gone: map[uint64]bool{},
	}
	defer r.writer.batch.Close()
	again := func(seq journal.Seq, _ journal.ID, record []byte) error {
		whole, err := r.batch.readPiece(record)
		if err == nil && whole {
			err = r.do(seq)
		}
		if err != nil {
			return bad(seq, err)
		}
		return nil
	}
	damages, err := file.Salvage(fs, fs.PathJoin(dir, journalDir), m.moved, again)
	if err == nil {
		err = r.end()
	}
	return damages, err
}

// do does what the batch says whose record is at a place.
func (r *redo) do(seq journal.Seq) error {
	if seq <= r.marks.applied {
		r.collect()
	} else if err := r.remove(); err != nil {
		return err
	}
	if seq <= r.marks.moved {
		return nil
	}
	r.writer.batch.Reset()
	for _, o := range r.batch.ops {
		if err := r.writer.do(&r.batch, o, r.marks.movedID); err != nil {
			return err
		}
	}
	if seq <= r.marks.applied || r.writer.batch.Empty() {
		return nil
	}
	return r.to.Apply(r.writer.batch, nil)
}

// collect records what a batch has removed that the tables have.
func (r *redo) collect() {
	for _, o := range r.batch.ops {
		switch o.kind {
		case opPut:
			delete(r.gone, o.id)
		case opDelete:
			r.gone[o.id] = true
		case opDropEvents:
			r.dropped = max(r.dropped, o.id)
		case opForgetBefore:
			r.day = max(r.day, uint32(o.id))
		}
	}
}

// remove removes what was collected, before anything else is done.
func (r *redo) remove() error {
	if !r.before {
		return nil
	}
	r.before = false
	for id := range r.gone {
		for _, kind := range []byte{keyMessage, keyState} {
			if err := r.to.Delete(appendKey(nil, kind, id), nil); err != nil {
				return err
			}
		}
	}
	if err := r.to.DeleteRange(appendKey(nil, keyEvent, 0), appendKey(nil, keyEvent, r.dropped+1), nil); err != nil {
		return err
	}
	return r.to.DeleteRange(appendDay(nil, 0), appendDay(nil, r.day), nil)
}

// end adds what is young.
func (r *redo) end() error {
	if err := r.remove(); err != nil {
		return err
	}
	r.writer.batch.Reset()
	for id := range r.writer.young.messages {
		if err := r.writer.addMessage(id); err != nil {
			return err
		}
	}
	if _, err := r.writer.addEvents(noID); err != nil || r.writer.batch.Empty() {
		return err
	}
	return r.to.Apply(r.writer.batch, nil)
}
