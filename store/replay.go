package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
	"pmg/store/journal/file"
	"pmg/store/notes"
)

// journalDir is the name of the journal's directory in the directory of the store.
const journalDir = "journal"

func (s *durable) journalDir() string { return s.guard.FS.PathJoin(s.monitor.dir, journalDir) }

// openJournal opens the journal. It does not require the records whose changes pebble has on disk.
func (s *durable) openJournal(o Options) (err error) {
	if err := s.checkOrigin(o.Origin); err != nil || o.Journal != nil {
		s.journal = o.Journal
		return err
	}
	s.journal, err = file.Open(s.guard.FS, s.journalDir(),
		file.Options{After: s.summary.marks.replayed(), Segment: o.segment})
	return s.damaged(err, s.summary.marks.replayed())
}

// damaged marks an error as damage if it means damage of the journal. applied is the place up to
// which the tables have the changes.
func (s *durable) damaged(err error, applied journal.Seq) error {
	d := (*file.Damage)(nil)
	if !errors.As(err, &d) {
		return err
	}
	if d.First == applied+1 { // a manifest that has lost its end does not name the latest tables
		err = fmt.Errorf(
			"%w; or the end of %s is lost, which says that the tables have the records up to %d", err, s.manifest, applied,
		)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// replay carries out the records of the journal whose changes pebble does not have on disk.
func (s *durable) replay() error {
	var b Batch
	from := s.summary.marks.replayed()
	err := s.journal.Follow(from, func(seq journal.Seq, _ journal.ID, record []byte) error {
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
	if err == nil {
		s.summary.endReplay() // also if a disk has lost records that were synced
	}
	return s.damaged(err, from)
}

// A redo carries out the changes of a store's journal for a check or a repair, without opening the
// store.
type redo struct {
	writer writer // only the young messages and the batch of the writer are used
	marks  marks  // the marks in the tables
	to     *pebble.Batch
	batch  Batch

	before  bool            // the tables already have the changes of the records read so far
	gone    map[uint64]bool // ids of messages that these records deleted
	dropped uint64          // number of the last event that these records dropped
	day     uint32          // these records removed notes of days before this day
}

// redoInto adds the changes to a batch that the tables of a database lack, but the journal in the
// store's directory has. It returns the damage of the journal. It passes an error about a record to
// bad, and ends if bad returns an error.
//
// Some tables may be obsolete and have messages whose deletion is in no table. Therefore redoInto
// also reads records that are older than the tables, if they still exist, and repeats their
// deletions.
func redoInto(
	to *pebble.Batch, db *pebble.DB, m marks, fs vfs.FS, dir string, bad func(journal.Seq, error) error,
) ([]*file.Damage, error) {
	s := &summary{moved: noID} // each event may be in a table
	s.states.upTo = noID       // each state may be in a table
	found, err := notes.Find(db, func(err error) error { return err })
	if err != nil {
		return nil, err
	}
	r := &redo{
		writer: writer{young: newYoung(), summary: s, batch: db.NewBatch(), reader: &reader{notes: found}},
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
	damages, err := file.Salvage(fs, fs.PathJoin(dir, journalDir), m.replayed(), again)
	if err == nil {
		err = r.end()
	}
	return damages, err
}

// do carries out the current batch, whose last record is at the place seq.
func (r *redo) do(seq journal.Seq) error {
	if seq <= r.marks.applied {
		r.collect()
	} else if err := r.remove(); err != nil {
		return err
	}
	r.writer.batch.Reset()
	r.batch.at = seq
	for _, o := range r.batch.ops {
		if r.marks.has(&r.batch, o) {
			continue
		}
		if err := r.writer.do(&r.batch, o, r.marks.movedID); err != nil {
			return err
		}
	}
	if seq <= r.marks.applied || r.writer.batch.Empty() {
		return nil
	}
	return r.to.Apply(r.writer.batch, nil)
}

// collect records what the batch removes, if the tables already have the batch's changes.
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

// remove carries out the collected removals. It is called before any other change.
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
	return r.writer.reader.notes.Forget(r.to, r.day)
}

// end adds the young messages and events to the batch.
func (r *redo) end() error {
	if err := r.remove(); err != nil {
		return err
	}
	r.writer.batch.Reset()
	for m := range r.writer.young.messages.all() {
		if err := r.writer.addMessage(m.id); err != nil {
			return err
		}
	}
	if _, err := r.writer.addEvents(noID); err != nil {
		return err
	}
	if err := r.writer.reader.notes.AppendTo(r.writer.batch); err != nil || r.writer.batch.Empty() {
		return err
	}
	return r.to.Apply(r.writer.batch, nil)
}
