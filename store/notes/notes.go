package notes

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// The first octets of the keys. The keys of notes in tables are behind all other keys of a store, so that the range of no file
// with other keys contains them.
const (
	// Plain begins the keys of notes that stay for good, and of notes that formats before 4 wrote:
	//
	//	d <day> <kind> 0 <key>
	Plain = 'd'
	// Timed begins the keys of notes in tables.
	Timed = 'x'
)

// Forever is the day of notes that are never removed.
const Forever = math.MaxUint32 >> 1

// AppendDay appends the beginning of the keys of a day: Plain or Timed, and the day.
func AppendDay(b []byte, first byte, day uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, first), day)
}

// A table is a table on disk.
type table struct {
	day, number uint32
	kinds       []string // kinds of the notes in the table, each with a NUL at the end
}

const prefixLen = 9

// prefix returns the beginning of the table's keys.
func (t table) prefix() []byte {
	return binary.BigEndian.AppendUint32(AppendDay(make([]byte, 0, prefixLen), Timed, t.day), t.number)
}

// The two low bits of a table's number say which tables of the day it replaces. The next table has a number that is higher by 4.
const (
	replacesNone  = iota
	replacesSmall // those that replace none
	replacesAll
	replacing = 3 // mask of the bits
)

// Notes are the notes of a store on disk. They are safe for concurrent use, but for Put, Remove and Forget, which one goroutine
// calls.
type Notes struct {
	db     *pebble.DB    // nil: the notes cannot be written
	from   pebble.Reader // what the notes are read from
	fs     vfs.FS
	dir    string
	read   func(error) error // marks an error of reading that means damage
	format sstable.WriterOptions
	most   int // small tables of a day before they are merged; in memory only: notes

	writing sync.Mutex // held while tables are written or replaced
	taking  sync.Mutex // held while pebble takes tables, and while days are forgotten; locked before mu

	mu        sync.RWMutex // guards the fields below
	recent    *Recent
	full      *Recent // table that is being written to disk; nil: none is
	written   journal.Seq
	fullAt    journal.Seq // full has the notes of the records up to this one
	forgotten uint32      // notes of full of days before this one were removed
	tables    []table     // sorted by day and number; the slice is replaced, not changed
	plain     []uint32    // sorted days of plain notes; replaced, not changed
	stopped   bool        // tables are not merged now
}

// lowestLevel is the number of pebble's lowest level, to which the tables go.
const lowestLevel = 6

// Open finds the notes of a database, which was opened in a directory with the options o. read marks errors of reading that mean
// damage. The notes of the records up to written are in tables. most is how many small tables a day has before they are merged;
// 0: as many as usual.
func Open(db *pebble.DB, o *pebble.Options, dir string, written journal.Seq, most int, read func(error) error) (*Notes, error) {
	o.EnsureDefaults()
	n := &Notes{
		db: db, from: db, fs: o.FS, dir: dir, read: read, recent: NewRecent(), written: written, most: cmp.Or(most, mostTables),
		format: o.MakeWriterOptions(lowestLevel, db.TableFormat()),
	}
	var err error
	if n.tables, n.plain, err = search(db, read, func(key []byte) error {
		return fmt.Errorf("the key %q of a note is too short", key)
	}); err != nil {
		return nil, err
	}
	return n, n.clean()
}

// Find finds the notes of a database that is checked or repaired, and passes over keys that no note can have. Further notes stay
// in memory, until AppendTo writes them.
func Find(from pebble.Reader, read func(error) error) (*Notes, error) {
	tables, plain, err := search(from, read, func([]byte) error { return nil })
	if err != nil {
		return nil, err
	}
	inForce, _ := divide(tables)
	return &Notes{from: from, read: read, recent: NewRecent(), tables: inForce, plain: plain}, nil
}

// InMemory returns notes that are only in memory. When there are more than most, or more than mostOctets, the oldest half may
// go, but for those that stay for good.
func InMemory(most int) *Notes {
	return &Notes{read: func(err error) error { return err }, recent: NewRecent(), most: most}
}

// mostOctets is about how much memory half of the notes that are only in memory take.
const mostOctets = 64 << 20

// makeRoom makes room for new notes that are only in memory. The caller holds the lock.
func (n *Notes) makeRoom() {
	if n.recent.Len() < n.most/2 && n.recent.Octets() < mostOctets {
		return
	}
	if n.recent.octets-n.recent.live() > mostOctets/4 { // much was replaced
		n.recent = n.recent.since(0)
		return
	}
	n.full, n.recent = n.recent, n.full.since(Forever)
	for i := range n.full.entries {
		if e := &n.full.entries[i]; e.day >= Forever {
			n.recent.put(e.day, n.full.keyOf(e), n.full.valueOf(e), e.removed)
		}
	}
}

// search finds the tables, and the days of plain notes. It passes keys that no note can have to bad, and ends if bad returns an
// error.
func search(
	from pebble.Reader, read func(error) error, bad func(key []byte) error,
) (tables []table, plain []uint32, err error) {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: []byte{Plain}, UpperBound: []byte{Timed + 1}})
	if err != nil {
		return nil, nil, read(err)
	}
	defer it.Close()
	for ok := it.First(); ok && it.Key()[0] == Plain; {
		if !IsKey(it.Key()) {
			if err := bad(it.Key()); err != nil {
				return nil, nil, err
			}
			ok = it.Next()
			continue
		}
		day := binary.BigEndian.Uint32(it.Key()[1:])
		plain = append(plain, day)
		if day == math.MaxUint32 {
			break
		}
		ok = it.SeekGE(AppendDay(nil, Plain, day+1))
	}
	for ok := it.SeekGE([]byte{Timed}); ok; {
		if !IsKey(it.Key()) {
			if err := bad(it.Key()); err != nil {
				return nil, nil, err
			}
			ok = it.Next()
			continue
		}
		t := table{day: binary.BigEndian.Uint32(it.Key()[1:]), number: binary.BigEndian.Uint32(it.Key()[5:])}
		prefix := t.prefix()
		for ok && IsKey(it.Key()) && bytes.HasPrefix(it.Key(), prefix) {
			kind := kindOf(it.Key()[prefixLen:])
			t.kinds = append(t.kinds, string(kind))
			ok = it.SeekGE(append(slices.Clip(prefix), endOf(kind)...))
		}
		tables = append(tables, t)
	}
	return tables, plain, read(it.Error())
}

// IsKey reports whether a note can have this key.
func IsKey(key []byte) bool {
	if key[0] == Plain {
		return len(key) > 5
	}
	return len(key) > prefixLen && bytes.IndexByte(key[prefixLen:], 0) >= 0
}

// endOf returns the lowest key that is above all keys of a kind.
func endOf(kind []byte) []byte {
	end := slices.Clone(kind)
	end[len(end)-1] = 1 // instead of the NUL
	return end
}

// Put stores a note. A note that stays for good is added to a batch of pebble.
func (n *Notes) Put(to *pebble.Batch, day uint32, key, value []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.from == nil {
		n.makeRoom()
	}
	if day < Forever || n.from == nil {
		n.recent.Put(day, key, value)
		return nil
	}
	if at, known := slices.BinarySearch(n.plain, day); !known {
		n.plain = slices.Insert(slices.Clone(n.plain), at, day)
	}
	return to.Set(append(AppendDay(nil, Plain, day), key...), value, nil)
}

// Remove removes a note. The removal of a plain note is added to a batch of pebble.
func (n *Notes) Remove(to *pebble.Batch, day uint32, key []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if day < Forever || n.from == nil {
		n.recent.Remove(day, key)
	}
	if !slices.Contains(n.plain, day) {
		return nil
	}
	return to.Delete(append(AppendDay(nil, Plain, day), key...), nil)
}

// Forget removes the notes of days before day. The removal of plain notes is added to a batch of pebble.
func (n *Notes) Forget(to *pebble.Batch, day uint32) error {
	n.taking.Lock()
	defer n.taking.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recent = n.recent.since(day)
	if n.from == nil {
		n.full = n.full.since(day)
		return nil
	}
	n.forgotten = max(n.forgotten, day)
	n.tables = slices.DeleteFunc(slices.Clone(n.tables), func(t table) bool { return t.day < day })
	n.plain = slices.DeleteFunc(slices.Clone(n.plain), func(d uint32) bool { return d < day })
	if err := to.DeleteRange(AppendDay(nil, Plain, 0), AppendDay(nil, Plain, day), nil); err != nil {
		return err
	}
	first, end := AppendDay(nil, Timed, 0), AppendDay(nil, Timed, day)
	if n.db == nil {
		return to.DeleteRange(first, end, nil)
	}
	return n.db.DeleteRange(first, end, pebble.NoSync) // a batch that is replayed is not carried out, but may find new tables
}

// Written returns the place in the journal up to which the tables have the notes of all records. The notes of the records up to
// at were put.
func (n *Notes) Written(at journal.Seq) journal.Seq {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full == nil && n.recent.Len() == 0 {
		n.written = max(n.written, at)
	}
	return n.written
}

// A part is a table in memory, without the days before since.
type part struct {
	*Recent
	since uint32
}

// has reports whether the table has notes of a day.
func (p part) has(day uint32) bool { return day >= p.since && slices.Contains(p.days, day) }

// parts returns the tables in memory, the newer one first. The caller holds the lock.
func (n *Notes) parts() []part {
	if n.full == nil {
		return []part{{Recent: n.recent}}
	}
	return []part{{Recent: n.recent}, {n.full, n.forgotten}}
}

func (n *Notes) lookUp(l *lookup) (value []byte, ok bool, err error) {
	n.mu.RLock()
	value, ok = l.inMemory()
	if !ok {
		err = l.begin()
	}
	n.mu.RUnlock()
	if ok || err != nil {
		return value, ok, err
	}
	if l.it != nil {
		defer l.it.Close()
	}
	return l.onDisk()
}

// Get returns the value of a note of a day. key is a kind, a NUL and a key.
func (n *Notes) Get(day uint32, key []byte) (value []byte, ok bool, err error) {
	return n.lookUp(&lookup{notes: n, key: key, day: day, ofDay: true})
}

// Lookup returns the value of a note of the latest day. key is a kind, a NUL and a key.
func (n *Notes) Lookup(key []byte) (value []byte, ok bool, err error) {
	return n.lookUp(&lookup{notes: n, key: key})
}

// A lookup is a look-up of a key.
type lookup struct {
	notes   *Notes
	key     []byte
	day     uint32
	ofDay   bool     // only notes of the day count
	removed []uint32 // days whose note with the key was removed
	tables  []table
	plain   []uint32
	it      *pebble.Iterator
}

// inMemory looks at the tables in memory.
func (l *lookup) inMemory() (value []byte, ok bool) {
	var days [8]uint32 // storage
	all, parts := days[:0], l.notes.parts()
	for _, p := range parts {
		all = append(all, p.days...)
	}
	slices.Sort(all)
	for _, day := range slices.Backward(slices.Compact(all)) {
		for _, p := range parts {
			if !p.has(day) || !l.counts(day) {
				continue
			}
			value, removed, ok := p.Get(day, l.key)
			if ok && !removed {
				return slices.Clone(value), true
			}
			if ok {
				l.removed = append(l.removed, day)
				break
			}
		}
	}
	return nil, false
}

// counts reports whether notes of a day are looked at.
func (l *lookup) counts(day uint32) bool { return !l.ofDay || day == l.day }

// begin opens an iterator if a table may have the key. The caller holds the lock, so the iterator has all tables.
func (l *lookup) begin() (err error) {
	n := l.notes
	kind := string(kindOf(l.key))
	for _, t := range n.tables {
		if slices.Contains(t.kinds, kind) && !slices.Contains(l.removed, t.day) && l.counts(t.day) {
			l.tables = append(l.tables, t)
		}
	}
	l.plain = n.plain
	if len(l.tables) > 0 {
		l.it, err = n.from.NewIter(
			&pebble.IterOptions{LowerBound: []byte{Timed}, UpperBound: []byte{Timed + 1}, UseL6Filters: true},
		)
	}
	return n.read(err)
}

// onDisk looks at the tables on disk and at plain notes, of the latest day first.
func (l *lookup) onDisk() (value []byte, ok bool, err error) {
	plain := l.plain
	for i := len(l.tables) - 1; i >= 0 || len(plain) > 0; {
		if last := len(plain) - 1; last >= 0 && (i < 0 || plain[last] > l.tables[i].day) {
			if value, ok, err = l.isPlain(plain[last]); ok || err != nil {
				return value, ok, err
			}
			plain = plain[:last]
			continue
		}
		t := l.tables[i]
		i--
		if slices.Contains(l.removed, t.day) {
			continue
		}
		key := append(t.prefix(), l.key...)
		if !l.it.SeekPrefixGE(key) {
			if err := l.it.Error(); err != nil {
				return nil, false, l.notes.read(err)
			}
			continue
		}
		found, err := l.it.ValueAndErr()
		if err != nil {
			return nil, false, l.notes.read(err)
		}
		if value, removed := read(found); !removed {
			return slices.Clone(value), true, nil
		}
		l.removed = append(l.removed, t.day)
	}
	return nil, false, nil
}

// isPlain looks at the plain notes of a day.
func (l *lookup) isPlain(day uint32) (value []byte, ok bool, err error) {
	if slices.Contains(l.removed, day) || !l.counts(day) {
		return nil, false, nil
	}
	found, closer, err := l.notes.from.Get(append(AppendDay(nil, Plain, day), l.key...))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, l.notes.read(err)
	}
	value = slices.Clone(found)
	return value, true, closer.Close()
}

// The value of a note in a table has an octet in front, which says whether the note was removed.
const (
	isThere   = 0
	isRemoved = 1
)

// read divides the value in a table.
func read(stored []byte) (value []byte, removed bool) {
	if len(stored) == 0 || stored[0] == isRemoved {
		return nil, true
	}
	return stored[1:], false
}

// tagOf returns the octet in front of a value.
func tagOf(removed bool) byte {
	if removed {
		return isRemoved
	}
	return isThere
}
