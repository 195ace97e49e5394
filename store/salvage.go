package store

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

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
