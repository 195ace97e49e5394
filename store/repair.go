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
	"pmg/store/seal"
)

// A Report is what is in a store.
type Report struct {
	Format                     int
	Messages, Mappings, Events int64
	First, Last                uint64   // ids of messages; 0 if there are none
	Faults                     []string // what could not be read, or is missing
}

// maxFaults is how many faults a Report names.
const maxFaults = 100

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// count adds an entry to the report.
func (r *Report) count(key, value []byte) {
	switch key[0] {
	case keyMessage:
		r.message(key, value)
	case keyState:
		if _, err := DecodeState(value); err != nil {
			r.fault("state %x: %v", key[1:], err)
		}
	case keyNote:
		r.Mappings++
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

// countAll adds all entries.
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
	return it.Error()
}

func (r *Report) message(key, value []byte) {
	id, ok := numberOf(key)
	if !ok {
		r.fault("the key %q has a wrong length", key)
		return
	}
	if err := Decode(value, new(sms.Message), 0); err != nil && !seal.Is(value) { // nobody has given the key
		r.fault("message %016x: %v", id, err)
	}
	if r.Messages == 0 {
		r.First = id
	}
	r.Messages++
	r.Last = id
}

// Check reads all of a store that no gateway has open, and reports what is in it. It returns
// an error if the store cannot be opened, or not be read to its end.
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
	s.reader = &reader{db, newYoung(), s.monitor, &s.summary, nil}
	changes := db.NewIndexedBatch() // what the journal has, as if pebble had it
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

// checkJournal adds what the journal has and pebble has not.
func (s *durable) checkJournal(changes *pebble.Batch) error {
	format, _, err := s.get([]byte{keyFormat})
	if err != nil || len(format) != 4 || binary.BigEndian.Uint32(format) < leastRepaired {
		return err // the report says so, or it is an earlier one, which has none
	}
	m, err := s.flushed()
	if errors.Is(err, errMarks) {
		return nil // the report says so
	}
	if err != nil {
		return err
	}
	damages, err := redoInto(changes, s.db, m, s.guard.FS, s.monitor.dir, func(seq journal.Seq, err error) error {
		return fmt.Errorf("record %d of the journal: %w", seq, err)
	})
	if err == nil && len(damages) > 0 {
		err = s.damaged(damages[0], m.moved)
	}
	return err
}

// Repair puts a store aside that cannot be opened, and makes a new one of what can be read. It
// returns where the damaged store is now. The report's faults are what could not be read. All
// entries are in memory meanwhile.
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

// namedByManifest compares the tables that are there with those that the manifest names, and returns what is missing.
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

// checkFormat refuses a store that a later version has written, or one that has a log, which this version does not read.
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

// saveAtOnce is about how many octets are written together.
const saveAtOnce = 1 << 20

// save makes a store of the entries, and does in it what the journal has.
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
		if r.Messages > 0 { // the journal may have one below
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

// redo does what the journal has, where the tables have the marks.
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

// fill writes the entries into an empty store. What is left of messages below the low mark
// was deleted.
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

// A salvage is what can be read of a store's files, whatever its manifest says: of each key the
// entry with the highest sequence number. What the journal has is done on top of that.
type salvage struct {
	fs      vfs.FS
	dir     string
	entries map[string]entry
	ranges  []deletedRange
	bad     []string // what could not be read: the file and why
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

// read reads all files.
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

// deleteRanges removes the entries that lie in a range that was deleted later. It goes through keys and
// ranges once, in their order: there may be millions of the ones and thousands of the others.
func (s *salvage) deleteRanges() {
	slices.SortFunc(s.ranges, func(a, b deletedRange) int { return strings.Compare(a.start, b.start) })
	var open latestFirst // ranges that have begun
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

// A latestFirst is a heap of ranges.
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

// file reads one file. Damage may have pebble panic, and the other files are read all the same.
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

// add takes an entry if it is newer than what is known of its key.
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

// table reads a table, and passes over its damaged blocks.
func (s *salvage) table(path string) error {
	f, err := s.fs.Open(path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() == 0 { // its writing had begun
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

// tableKeys reads a table from its beginning, and from its end if that comes to damage.
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

// tableRanges reads the ranges that a table deletes.
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
