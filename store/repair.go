package store

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/sms"
	"pmg/store/journal"
	"pmg/store/notes"
	"pmg/store/seal"
)

// A Report describes the contents of a store.
type Report struct {
	Format                     int
	Messages, Mappings, Events int64
	First, Last                uint64   // lowest and highest id of a message; 0: there are no messages
	Faults                     []string // descriptions of what is missing or could not be read
}

// maxFaults is the maximum number of faults in a Report.
const maxFaults = 100

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// count counts an entry in the report.
func (r *Report) count(key, value []byte) {
	switch key[0] {
	case keyMessage:
		r.message(key, value)
	case keyState:
		if _, err := DecodeState(value); err != nil {
			r.fault("state %x: %v", key[1:], err)
		}
	case keyNote, keyTimed: // countAll counts the notes
		if !notes.IsKey(key) {
			r.fault("the key %q has a wrong length", key)
		}
	case keyEvent:
		r.Events++
	case keyMarks:
		if _, err := decodeMarks(value); err != nil {
			r.fault("%v", err)
		}
	case keyFormat:
		if len(value) == 4 {
			r.Format = int(binary.BigEndian.Uint32(value))
		}
	default:
		r.fault("the key %q is of no known kind", key)
	}
}

// countAll counts all entries of a database.
func (r *Report) countAll(of pebble.Reader) error {
	it, err := of.NewIter(nil)
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		r.count(it.Key(), value)
	}
	if err := it.Error(); err != nil {
		return err
	}
	return r.countNotes(of)
}

// countNotes counts the notes of a database.
func (r *Report) countNotes(of pebble.Reader) error {
	found, err := notes.Find(of, func(err error) error { return err })
	if err != nil {
		return err
	}
	view := found.View()
	for _, day := range view.Days() {
		err := view.Each(day, nil, func(_, _ []byte) error {
			r.Mappings++
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) message(key, value []byte) {
	id, ok := numberOf(key)
	if !ok {
		r.fault("the key %q has a wrong length", key)
		return
	}
	if err := Decode(value, new(sms.Message), 0); err != nil && !seal.Is(value) { // an encrypted record needs its key
		r.fault("message %016x: %v", id, err)
	}
	if r.Messages == 0 {
		r.First = id
	}
	r.Messages++
	r.Last = id
}

// Check reads a whole store that no gateway has open, and reports its contents. It returns an error
// if the store cannot be opened or cannot be read completely.
func Check(dir string) (Report, error) { return check(vfs.Default, dir) }

func check(fs vfs.FS, dir string) (r Report, err error) {
	s := newDurable(dir, Options{FS: fs})
	defer s.health.Close()
	if s.lock, err = pebble.LockDirectory(dir, fs); err != nil {
		return r, fmt.Errorf("cannot check the store in %s: %w", dir, lockError(err))
	}
	defer s.lock.Close()
	if err = s.checkDir(); err == nil {
		err = s.checkAll(&r)
	}
	if err != nil {
		return r, fmt.Errorf("cannot check the store in %s: %w", dir, s.openError(err))
	}
	return r, nil
}

func (s *durable) checkAll(r *Report) error {
	o := s.settings(Options{})
	o.ReadOnly = true
	db, err := s.openPebble(o)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.CheckLevels(nil); err != nil {
		return err
	}
	s.reader = &reader{db: db, young: newYoung(), monitor: s.monitor, summary: &s.summary}
	changes := db.NewIndexedBatch() // the changes that only the journal has
	defer changes.Close()
	if err := s.checkJournal(changes); err != nil {
		return err
	}
	if err := r.countAll(changes); err != nil {
		return s.monitor.readError(err)
	}
	switch {
	case r.Format > formatVersion:
		return fmt.Errorf("%w: its format is %d", ErrNewer, r.Format)
	case r.Format == 0:
		return errNoFormat
	}
	return nil
}

// checkJournal adds the changes that the journal has and pebble does not have.
func (s *durable) checkJournal(changes *pebble.Batch) error {
	format, _, err := s.get([]byte{keyFormat})
	if err != nil || len(format) != 4 || binary.BigEndian.Uint32(format) < leastRepaired {
		return err // the report names the fault, or the store has an earlier format without a journal
	}
	m, err := s.flushed()
	if errors.Is(err, errMarks) {
		return nil // the report names the fault
	}
	if err != nil {
		return err
	}
	damages, err := redoInto(changes, s.db, m, s.guard.FS, s.monitor.dir, func(seq journal.Seq, err error) error {
		return fmt.Errorf("record %d of the journal: %w", seq, err)
	})
	if err == nil && len(damages) > 0 {
		err = s.damaged(damages[0], m.replayed())
	}
	return err
}

// Repair moves a damaged store aside, and makes a new store of the entries that can be read. aside
// is the new directory of the damaged store. The report's faults describe what could not be read.
// Repair holds all entries in memory.
func Repair(dir string, now time.Time) (aside string, r Report, err error) {
	return repair(vfs.Default, dir, now)
}

func repair(fs vfs.FS, dir string, now time.Time) (aside string, r Report, err error) {
	lock, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return "", r, fmt.Errorf("cannot repair the store in %s: %w", dir, lockError(err))
	}
	defer lock.Close()
	aside = dir + ".damaged-" + now.UTC().Format("20060102T150405")
	fresh := dir + ".repaired"
	old := &salvage{fs: fs, dir: dir, entries: map[string]entry{}}
	if err := namedByManifest(fs, dir, lock); err != nil {
		old.bad = append(old.bad, err.Error())
	}
	err = old.read()
	if err == nil {
		err = old.checkFormat()
	}
	if err == nil {
		r, err = old.save(fs, fresh)
	}
	if err == nil {
		err = fs.Rename(dir, aside)
	}
	if err == nil {
		err = fs.Rename(fresh, dir)
	}
	if err == nil {
		err = syncParent(fs, dir)
	}
	if err != nil {
		return "", r, fmt.Errorf("cannot repair the store in %s: %w", dir, err)
	}
	return aside, r, nil
}

// namedByManifest compares the existing tables with the tables that the manifest names. It returns
// an error that names the missing tables.
func namedByManifest(fs vfs.FS, dir string, lock *pebble.Lock) error {
	s := newDurable(dir, Options{FS: fs})
	defer s.health.Close()
	s.lock = lock
	o := s.settings(Options{})
	o.ReadOnly = true
	db, err := s.openPebble(o)
	if err != nil {
		return err
	}
	return db.Close()
}

// checkFormat returns an error if a later version has written the store, or if the store has a log
// of pebble, which this version does not read.
func (s *salvage) checkFormat() error {
	f := s.entries[string(rune(keyFormat))].value
	if len(f) != 4 {
		return nil
	}
	switch v := binary.BigEndian.Uint32(f); {
	case v > formatVersion:
		return fmt.Errorf("%w: its format is %d", ErrNewer, v)
	case v < leastRepaired:
		return fmt.Errorf("its format is %d: repair it with the version of pmg that has written it", v)
	}
	return nil
}

// saveAtOnce is about how many octets are written in one batch.
const saveAtOnce = 1 << 20

// save makes a store of the entries, and then carries out the changes of the journal in it.
func (s *salvage) save(fs vfs.FS, dir string) (r Report, err error) {
	if err := fs.RemoveAll(dir); err != nil {
		return r, err
	}
	opened, err := Open(dir, Options{FS: fs})
	if err != nil {
		return r, err
	}
	fresh := opened.(*durable)
	var m marks
	if m, err = decodeMarks(s.entries[string(rune(keyMarks))].value); err == nil {
		fresh.summary.marks.low, fresh.summary.marks.last = m.low, m.last
	}
	err = s.fill(fresh)
	if err == nil {
		err = s.redo(fresh, m)
	}
	r.Faults = s.bad
	if err == nil {
		err = r.countAll(fresh.db)
	}
	if err == nil {
		fresh.summary.marks.last, fresh.summary.marks.messages = max(fresh.summary.marks.last, r.Last), r.Messages
		if r.Messages > 0 { // the journal may have messages with lower ids
			fresh.summary.marks.low = min(fresh.summary.marks.low, r.First)
		}
		fresh.summary.marks.movedID = fresh.summary.marks.last
		err = fresh.writeMarks()
	}
	if err == nil {
		err = fresh.flush()
	}
	return r, errors.Join(err, fresh.Close())
}

// redo carries out the changes of the journal. m are the marks in the tables.
func (s *salvage) redo(fresh *durable, m marks) error {
	batch := fresh.db.NewBatch()
	damages, err := redoInto(batch, fresh.db, m, s.fs, s.dir, func(seq journal.Seq, err error) error {
		s.bad = append(s.bad, fmt.Sprintf("record %d of the journal: %v", seq, err))
		return nil
	})
	for _, d := range damages {
		s.bad = append(s.bad, d.Error())
	}
	if errors.Is(err, os.ErrNotExist) {
		s.bad = append(s.bad, err.Error())
		err = nil
	}
	if err != nil {
		return err
	}
	return fresh.db.Apply(batch, pebble.NoSync)
}

// fill writes the entries to an empty store. It leaves out messages below the low mark, which were
// deleted.
func (s *salvage) fill(fresh *durable) error {
	batch := fresh.db.NewBatch()
	for _, key := range slices.Sorted(maps.Keys(s.entries)) {
		if key == "" || key[0] == keyFormat || key[0] == keyMarks {
			continue
		}
		if id, ok := numberOf([]byte(key)); ok && id < fresh.summary.marks.low && (key[0] == keyMessage || key[0] == keyState) {
			continue
		}
		if err := batch.Set([]byte(key), s.entries[key].value, nil); err != nil {
			return err
		}
		if batch.Len() > saveAtOnce {
			if err := fresh.db.Apply(batch, pebble.NoSync); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	return fresh.db.Apply(batch, pebble.NoSync)
}

// A salvage is the collection of all entries that can be read from a store's files, whether or not
// the manifest names the files. For each key it has the entry with the highest sequence number. The
// changes of the journal are carried out afterwards.
type salvage struct {
	fs      vfs.FS
	dir     string
	entries map[string]entry
	ranges  []deletedRange
	bad     []string // files that could not be read, with the reasons
}

type entry struct {
	seq   uint64
	value []byte
	gone  bool
}

type deletedRange struct {
	start, end string
	seq        uint64
}

// read reads all files of the store.
func (s *salvage) read() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.file(name); err != nil {
			s.bad = append(s.bad, fmt.Sprintf("%s: %v", name, err))
		}
	}
	s.deleteRanges()
	maps.DeleteFunc(s.entries, func(_ string, e entry) bool { return e.gone })
	return nil
}

// deleteRanges removes the entries in ranges that were deleted later. It goes through keys and
// ranges once, in their order, because there may be millions of keys and thousands of ranges.
func (s *salvage) deleteRanges() {
	slices.SortFunc(s.ranges, func(a, b deletedRange) int { return strings.Compare(a.start, b.start) })
	var open latestFirst // ranges that contain the current key
	rest := s.ranges
	for _, key := range slices.Sorted(maps.Keys(s.entries)) {
		for ; len(rest) > 0 && rest[0].start <= key; rest = rest[1:] {
			heap.Push(&open, rest[0])
		}
		for len(open) > 0 && open[0].end <= key {
			heap.Pop(&open)
		}
		if len(open) > 0 && s.entries[key].seq < open[0].seq {
			delete(s.entries, key)
		}
	}
}

// A latestFirst is a heap of ranges. The first one was deleted last.
type latestFirst []deletedRange

func (h latestFirst) Len() int           { return len(h) }
func (h latestFirst) Less(i, j int) bool { return h[i].seq > h[j].seq }
func (h latestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *latestFirst) Push(r any)        { *h = append(*h, r.(deletedRange)) }

func (h *latestFirst) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

// file reads one file. It recovers from a panic of pebble at damage, so that the other files are
// still read.
func (s *salvage) file(name string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	path := s.fs.PathJoin(s.dir, name)
	if strings.HasSuffix(name, ".sst") {
		return s.table(path)
	}
	return nil
}

// add stores an entry if it is newer than the known entry of the same key.
func (s *salvage) add(kind pebble.InternalKeyKind, key, value []byte, seq uint64) {
	e := entry{seq: seq}
	switch kind {
	case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
		e.value = bytes.Clone(value)
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindDeleteSized, pebble.InternalKeyKindSingleDelete:
		e.gone = true
	case pebble.InternalKeyKindRangeDelete:
		s.ranges = append(s.ranges, deletedRange{string(key), string(value), seq})
		return
	default:
		return
	}
	if old, ok := s.entries[string(key)]; !ok || seq >= old.seq {
		s.entries[string(key)] = e
	}
}

// table reads a table, and skips its damaged blocks.
func (s *salvage) table(path string) error {
	f, err := s.fs.Open(path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() == 0 { // the table was only begun
		return f.Close()
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	o := &pebble.Options{}
	o.EnsureDefaults()
	r, err := sstable.NewReader(context.Background(), readable, o.MakeReaderOptions())
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	defer r.Close()
	if err := s.tableRanges(r); err != nil {
		return err
	}
	return s.tableKeys(r)
}

// tableKeys reads a table from its beginning. If it meets damage, it also reads the table backwards
// from its end.
func (s *salvage) tableKeys(r *sstable.Reader) error {
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	defer it.Close()
	for kv := it.First(); kv != nil; kv = it.Next() {
		if value, _, err := kv.Value(nil); err == nil {
			s.add(kv.Kind(), kv.K.UserKey, value, uint64(kv.SeqNum()))
		}
	}
	damage := it.Error()
	if damage == nil {
		return nil
	}
	for kv := it.Last(); kv != nil; kv = it.Prev() {
		if value, _, err := kv.Value(nil); err == nil {
			s.add(kv.Kind(), kv.K.UserKey, value, uint64(kv.SeqNum()))
		}
	}
	return damage
}

// tableRanges reads the deleted ranges of a table.
func (s *salvage) tableRanges(r *sstable.Reader) error {
	it, err := r.NewRawRangeDelIter(context.Background(), sstable.NoFragmentTransforms, sstable.NoReadEnv)
	if err != nil || it == nil {
		return err
	}
	defer it.Close()
	span, err := it.First()
	for ; span != nil && err == nil; span, err = it.Next() {
		for _, k := range span.Keys {
			s.ranges = append(s.ranges, deletedRange{string(span.Start), string(span.End), uint64(k.SeqNum())})
		}
	}
	return err
}
