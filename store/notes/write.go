package notes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

const (
	// mostTables is how many small tables a day has before they are merged.
	mostTables = 64
	// fileOctets is about how large a file of a table grows; a merged table may have several.
	fileOctets = 256 << 20
	// temporary is the beginning of the names of files that are being written.
	temporary = "temporary.notes-"
)

// errStopped is the error of a merge that StopMerges has stopped.
var errStopped = errors.New("merges are stopped, because the store is being closed or copied")

// Octets returns about how much memory the notes take that are in no table.
func (n *Notes) Octets() (octets int) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, p := range n.parts() {
		octets += p.Octets()
	}
	return octets
}

// Freeze ends the table in memory and begins a new one, so that WriteFrozen can write the ended one. The notes of the records up
// to at were put. Freeze returns false if an earlier table waits for WriteFrozen.
func (n *Notes) Freeze(at journal.Seq) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	at = max(at, n.written) // the caller may have read its place before a later one was written
	switch {
	case n.full != nil:
		return false
	case n.recent.Len() == 0:
		n.written = at
	default:
		n.full, n.fullAt, n.forgotten, n.recent = n.recent, at, 0, n.recent.next()
	}
	return true
}

// WriteFrozen writes the frozen notes to disk, and merges small tables if there are many. After an error the notes stay in
// memory, and the next call tries again.
func (n *Notes) WriteFrozen() error {
	n.writing.Lock()
	defer n.writing.Unlock()
	n.mu.RLock()
	full := n.full
	n.mu.RUnlock()
	if full != nil {
		if err := n.writeFull(full); err != nil {
			return fmt.Errorf("cannot write a table of notes: %w", err)
		}
	}
	for _, day := range n.crowded() {
		if err := n.merge(day, false); err != nil && !errors.Is(err, errStopped) {
			return fmt.Errorf("cannot merge tables of notes: %w", err)
		}
	}
	return nil
}

// writeFull writes the frozen notes.
func (n *Notes) writeFull(full *Recent) error {
	w := writing{notes: n}
	defer w.end()
	made, err := n.write(&w, full)
	if err != nil {
		return err
	}
	n.taking.Lock()
	defer n.taking.Unlock()
	n.mu.RLock()
	forgotten := n.forgotten
	n.mu.RUnlock()
	if err := w.ingest(forgotten); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range made {
		if t.day >= forgotten {
			n.add(t)
		}
	}
	n.full, n.written = nil, n.fullAt
	return nil
}

// add adds a table to the list. The caller holds the lock.
func (n *Notes) add(t table) {
	n.tables = append(slices.Clone(n.tables), t)
	slices.SortFunc(n.tables, compare)
}

func compare(a, b table) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.number, b.number))
}

// write writes the files of a table for each day of the notes in memory.
func (n *Notes) write(w *writing, full *Recent) (made []table, err error) {
	for _, day := range full.days {
		t := table{day: day, number: n.next(day, replacesNone)}
		list := full.sort(day, nil, nil)
		if err := w.begin(&t); err != nil {
			return nil, err
		}
		for _, i := range list.all {
			e := &full.entries[i]
			if err := w.put(full.keyOf(e), full.valueOf(e), e.removed); err != nil {
				return nil, err
			}
		}
		made = append(made, t)
	}
	return made, w.endFile()
}

// AppendTo adds a table of the notes in memory to a batch.
func (n *Notes) AppendTo(to *pebble.Batch) error {
	for _, day := range n.recent.days {
		prefix := table{day: day, number: n.next(day, replacesNone)}.prefix()
		for i := range n.recent.entries {
			e := &n.recent.entries[i]
			if e.day != day {
				continue
			}
			key := append(slices.Clip(prefix), n.recent.keyOf(e)...)
			if err := to.Set(key, append([]byte{tagOf(e.removed)}, n.recent.valueOf(e)...), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the number of the next table of a day.
func (n *Notes) next(day uint32, replaces uint32) uint32 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	number := uint32(0)
	for _, t := range n.tables {
		if t.day == day {
			number = t.number &^ replacing
		}
	}
	return number + 4 | replaces
}

// crowded returns the days with many small tables.
func (n *Notes) crowded() (days []uint32) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	small := 0
	for i, t := range n.tables {
		if i > 0 && n.tables[i-1].day != t.day {
			small = 0
		}
		if t.number&replacing == replacesNone {
			if small++; small == n.most {
				days = append(days, t.day)
			}
		}
	}
	return days
}

// merge replaces tables of a day by one: the small ones, or all. Removed notes are left out where no older table can have them.
func (n *Notes) merge(day uint32, all bool) error {
	n.mu.RLock()
	var old []table
	older := slices.Contains(n.plain, day)
	for _, t := range n.tables {
		switch {
		case t.day != day:
		case all || t.number&replacing == replacesNone:
			old = append(old, t)
		default:
			older = true
		}
	}
	n.mu.RUnlock()
	if len(old) == 0 {
		return nil
	}
	replaces := uint32(replacesSmall)
	if all {
		replaces = replacesAll
	}
	t := table{day: day, number: n.next(day, replaces)}
	w := writing{notes: n, table: &t}
	defer w.end()
	if err := n.writeMerged(&w, old, older); err != nil {
		return err
	}
	n.taking.Lock()
	defer n.taking.Unlock()
	if !n.inForce(old[0]) { // the day was forgotten meanwhile
		return nil
	}
	if err := w.ingest(0); err != nil {
		return err
	}
	n.mu.Lock()
	n.tables = slices.DeleteFunc(slices.Clone(n.tables), func(t table) bool {
		return slices.ContainsFunc(old, func(o table) bool { return compare(o, t) == 0 })
	})
	n.add(t)
	n.mu.Unlock()
	return n.drop(old)
}

func (n *Notes) inForce(t table) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.ContainsFunc(n.tables, func(o table) bool { return compare(o, t) == 0 })
}

// writeMerged writes the files of a table with the newest notes of tables.
func (n *Notes) writeMerged(w *writing, old []table, older bool) error {
	var cursors []*Cursor
	for _, o := range slices.Backward(old) {
		c, err := openCursor(n.db, o.prefix(), nil, nil, true, n.read)
		if err != nil {
			return err
		}
		defer c.Close()
		cursors = append(cursors, c)
	}
	count := 0
	err := merged(cursors, func(key, value []byte, removed bool) error {
		if count++; count%1024 == 1 && n.isStopped() {
			return errStopped
		}
		if removed && !older {
			return nil
		}
		return w.put(key, value, removed)
	})
	if err != nil {
		return err
	}
	return w.endFile()
}

// drop deletes the keys of tables.
func (n *Notes) drop(old []table) error {
	for _, t := range old {
		end := t
		end.number++
		if err := n.db.DeleteRange(t.prefix(), end.prefix(), pebble.NoSync); err != nil {
			return err
		}
	}
	return nil
}

// clean removes what an interrupted run has left: temporary files, and tables that another replaces.
func (n *Notes) clean() error {
	names, err := n.fs.List(n.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, temporary) {
			if err := n.fs.Remove(n.fs.PathJoin(n.dir, name)); err != nil {
				return err
			}
		}
	}
	n.mu.Lock()
	var old []table
	n.tables, old = divide(n.tables)
	n.mu.Unlock()
	return n.drop(old)
}

// divide divides sorted tables into those in force and those that a later one of their day has replaced.
func divide(all []table) (inForce, replaced []table) {
	var by *table
	for i := len(all) - 1; i >= 0; i-- {
		t := all[i]
		if by != nil && by.day != t.day {
			by = nil
		}
		switch {
		case by != nil && (by.number&replacing == replacesAll || t.number&replacing == replacesNone):
			replaced = append(replaced, t)
			continue
		case t.number&replacing != replacesNone && by == nil || t.number&replacing == replacesAll:
			by = &all[i]
		}
		inForce = append(inForce, t)
	}
	slices.Reverse(inForce)
	return inForce, replaced
}

// MergeAll replaces the tables of each day by one without the notes that were removed or replaced. The notes in memory must have
// been written.
func (n *Notes) MergeAll(ctx context.Context) error {
	n.writing.Lock()
	defer n.writing.Unlock()
	n.mu.RLock()
	var days []uint32
	for _, t := range n.tables {
		days = append(days, t.day)
	}
	n.mu.RUnlock()
	for _, day := range slices.Compact(days) {
		err := ctx.Err()
		if err == nil {
			err = n.merge(day, true)
		}
		if err != nil {
			return fmt.Errorf("cannot merge tables of notes: %w", err)
		}
	}
	return nil
}

// StopMerges gives up a merge that is under way, and begins none until AllowMerges is called. So WriteFrozen takes no longer
// than the frozen notes do.
func (n *Notes) StopMerges() { n.setStopped(true) }

// AllowMerges ends what StopMerges has begun.
func (n *Notes) AllowMerges() { n.setStopped(false) }

func (n *Notes) setStopped(stopped bool) {
	n.mu.Lock()
	n.stopped = stopped
	n.mu.Unlock()
}

func (n *Notes) isStopped() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.stopped
}

// A writing is the writing of files, which pebble then takes.
type writing struct {
	notes  *Notes
	table  *table
	file   *sstable.Writer
	octets int
	paths  []string
	days   []uint32 // days of the files at paths
	key    []byte
	value  []byte
}

// begin begins a table.
func (w *writing) begin(t *table) error {
	w.table = t
	return w.endFile()
}

// put adds a note to the table. Notes come in the order of their keys.
func (w *writing) put(key, value []byte, removed bool) error {
	kind := kindOf(key)
	if last := len(w.table.kinds) - 1; last < 0 || w.table.kinds[last] != string(kind) {
		w.table.kinds = append(w.table.kinds, string(kind))
	}
	if w.file == nil || w.octets > fileOctets {
		if err := w.nextFile(); err != nil {
			return err
		}
	}
	w.key = append(append(w.key[:0], w.table.prefix()...), key...)
	w.value = append(append(w.value[:0], tagOf(removed)), value...)
	w.octets += len(w.key) + len(w.value)
	return w.file.Set(w.key, w.value)
}

// nextFile ends a file and begins another.
func (w *writing) nextFile() error {
	if err := w.endFile(); err != nil {
		return err
	}
	path := w.notes.fs.PathJoin(w.notes.dir, fmt.Sprintf("%s%d", temporary, len(w.paths)))
	f, err := w.notes.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w.paths, w.days = append(w.paths, path), append(w.days, w.table.day)
	format := w.notes.format
	if w.table.number&replacing != replacesNone { // reading a filter of millions of keys costs more than a search
		format.FilterPolicy = nil
	}
	w.file, w.octets = sstable.NewWriter(objstorageprovider.NewFileWritable(f), format), 0
	return nil
}

// endFile ends a file, and syncs it.
func (w *writing) endFile() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	return file.Close()
}

// ingest gives the files to pebble, but for those of days before day.
func (w *writing) ingest(day uint32) error {
	var paths []string
	for i, path := range w.paths {
		if w.days[i] >= day {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return w.notes.db.Ingest(context.Background(), paths)
}

// end removes the files that pebble has not taken.
func (w *writing) end() {
	_ = w.endFile()
	for _, path := range w.paths {
		_ = w.notes.fs.Remove(path) // pebble has taken it, or the next start removes it
	}
}
