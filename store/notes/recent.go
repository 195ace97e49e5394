package notes

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"
)

// A Recent is a table of notes in memory. It has no pointers but those to its chunks, so that the garbage collector does not
// look at each note. It is not safe for concurrent use.
type Recent struct {
	seed    maphash.Seed
	slots   []slot // at the place that the hash of an entry's key gives, or behind it
	entries []entry
	chunks  [][]byte // keys and values; octets are only appended
	octets  int      // octets in the chunks
	days    []uint32 // sorted days of the entries
}

// A slot has the hash of an entry's key in the upper half, so that an entry is only read if it is most likely the one, and
// the entry's number plus 1 in the lower half. 0 is free.
type slot uint64

func newSlot(hash uint32, number int) slot { return slot(hash)<<32 | slot(number+1) }

// An entry is a note of a Recent.
type entry struct {
	day     uint32
	chunk   uint32 // index of the chunk with the key and the value, one after the other
	at      uint32 // index of the key's first octet in the chunk
	key     uint32 // octets of the key
	value   uint32 // octets of the value
	removed bool
}

const (
	chunkSize  = 1 << 18
	leastSlots = 1 << 10
)

// NewRecent returns an empty table.
func NewRecent() *Recent { return &Recent{seed: maphash.MakeSeed(), slots: make([]slot, leastSlots)} }

// next returns the table that follows this one, which is full. It has room for as many notes, because they come as fast as
// before, most likely.
func (r *Recent) next() *Recent {
	slots := leastSlots
	for isFull(len(r.entries), slots) {
		slots *= 2
	}
	return &Recent{seed: maphash.MakeSeed(), slots: make([]slot, slots), entries: make([]entry, 0, len(r.entries))}
}

// isFull reports whether so many slots are too few for a number of entries.
func isFull(entries, slots int) bool { return entries*4 > slots*3 }

// Len returns the number of notes, including removed ones.
func (r *Recent) Len() int { return len(r.entries) }

// Octets returns about how much memory the table takes.
func (r *Recent) Octets() int { return r.octets + len(r.entries)*40 }

// Put stores a note. A note with the same day and key is replaced.
func (r *Recent) Put(day uint32, key, value []byte) { r.put(day, key, value, false) }

// Remove stores that a note was removed. An earlier table may still have it.
func (r *Recent) Remove(day uint32, key []byte) { r.put(day, key, nil, true) }

func (r *Recent) put(day uint32, key, value []byte, removed bool) {
	hash := r.hash(day, key)
	i := r.find(hash, day, key)
	e := entry{day: day, key: uint32(len(key)), value: uint32(len(value)), removed: removed}
	e.chunk, e.at = r.copyOf(key, value)
	if s := r.slots[i]; s != 0 {
		*r.entryOf(s) = e
		return
	}
	r.slots[i] = newSlot(hash, len(r.entries))
	r.entries = append(r.entries, e)
	if at, known := slices.BinarySearch(r.days, day); !known {
		r.days = slices.Insert(slices.Clone(r.days), at, day)
	}
	if isFull(len(r.entries), len(r.slots)) {
		r.grow()
	}
}

// Get returns the value of a note. ok is false if the table does not have it. removed says that it was removed.
func (r *Recent) Get(day uint32, key []byte) (value []byte, removed, ok bool) {
	s := r.slots[r.find(r.hash(day, key), day, key)]
	if s == 0 {
		return nil, false, false
	}
	e := r.entryOf(s)
	return r.valueOf(e), e.removed, true
}

func (r *Recent) hash(day uint32, key []byte) uint32 {
	return uint32(maphash.Bytes(r.seed, key)>>32) ^ day*0x9E3779B9
}

// find returns the index of the slot of a note, or of the free one for it.
func (r *Recent) find(hash, day uint32, key []byte) (i uint32) {
	mask := uint32(len(r.slots) - 1)
	for i = hash & mask; ; i = (i + 1) & mask {
		s := r.slots[i]
		if s == 0 {
			return i
		}
		if uint32(s>>32) != hash {
			continue
		}
		if e := r.entryOf(s); e.day == day && bytes.Equal(r.keyOf(e), key) {
			return i
		}
	}
}

func (r *Recent) entryOf(s slot) *entry { return &r.entries[uint32(s)-1] }

// grow doubles the slots.
func (r *Recent) grow() {
	old := r.slots
	r.slots = make([]slot, 2*len(old))
	mask := uint32(len(r.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := uint32(s>>32) & mask
		for r.slots[i] != 0 {
			i = (i + 1) & mask
		}
		r.slots[i] = s
	}
}

// copyOf copies a key and a value into a chunk.
func (r *Recent) copyOf(key, value []byte) (chunk, at uint32) {
	n := len(key) + len(value)
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last])+n > cap(r.chunks[last]) {
		r.chunks = append(r.chunks, make([]byte, 0, max(chunkSize, n)))
		last++
	}
	c := &r.chunks[last]
	at = uint32(len(*c))
	*c = append(append(*c, key...), value...)
	r.octets += n
	return uint32(last), at
}

func (r *Recent) keyOf(e *entry) []byte { return r.chunks[e.chunk][e.at:][:e.key:e.key] }

func (r *Recent) valueOf(e *entry) []byte { return r.chunks[e.chunk][e.at+e.key:][:e.value:e.value] }

// kindOf returns the kind at the beginning of a key, with the NUL behind it.
func kindOf(key []byte) []byte { return key[:bytes.IndexByte(key, 0)+1] }

// live returns how many octets the notes have that were not replaced.
func (r *Recent) live() (octets int) {
	for i := range r.entries {
		octets += int(r.entries[i].key + r.entries[i].value)
	}
	return octets
}

// since returns a new table of the notes of day and later.
func (r *Recent) since(day uint32) *Recent {
	kept := NewRecent()
	if r == nil {
		return kept
	}
	for i := range r.entries {
		if e := &r.entries[i]; e.day >= day {
			kept.put(e.day, r.keyOf(e), r.valueOf(e), e.removed)
		}
	}
	return kept
}

// copied returns a copy that can be read while this table is changed. It has no slots.
func (r *Recent) copied() *Recent {
	return &Recent{entries: slices.Clone(r.entries), chunks: slices.Clone(r.chunks), days: r.days}
}

// A sorted is a list of the notes of one day, in the order of their keys.
type sorted struct {
	of  *Recent
	all []uint32 // indices of the entries
}

// sort returns the notes of a day whose keys are at least lower and below upper, in the order of the keys; nil is no limit.
func (r *Recent) sort(day uint32, lower, upper []byte) sorted {
	var all []rank
	for i := range r.entries {
		e := &r.entries[i]
		if e.day != day {
			continue
		}
		if key := r.keyOf(e); bytes.Compare(key, lower) >= 0 && (upper == nil || bytes.Compare(key, upper) < 0) {
			all = append(all, rank{index: uint32(i)})
		}
	}
	r.sortRanks(all)
	s := sorted{of: r, all: make([]uint32, len(all))}
	for i := range all {
		s.all[i] = all[i].index
	}
	return s
}

// A rank is an entry with those octets of its key that decide most comparisons.
type rank struct {
	octets uint64
	index  uint32
}

// sortRanks sorts entries by their keys. Keys of one kind have long common beginnings, so the kinds are sorted one by one, and
// the first octets in which the keys of a kind differ are compared as a number.
func (r *Recent) sortRanks(all []rank) {
	kinds := map[string]*[]rank{}
	for _, k := range all {
		kind := kindOf(r.keyOf(&r.entries[k.index]))
		list := kinds[string(kind)]
		if list == nil {
			list = new([]rank)
			kinds[string(kind)] = list
		}
		*list = append(*list, k)
	}
	all = all[:0]
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		r.sortKind(*kinds[kind])
		all = append(all, *kinds[kind]...)
	}
}

func (r *Recent) sortKind(all []rank) {
	first := r.keyOf(&r.entries[all[0].index])
	common := len(first)
	for _, k := range all {
		key := r.keyOf(&r.entries[k.index])
		common = min(common, len(key))
		for i := range common {
			if key[i] != first[i] {
				common = i
				break
			}
		}
	}
	for i := range all {
		var octets [8]byte
		copy(octets[:], r.keyOf(&r.entries[all[i].index])[common:])
		all[i].octets = binary.BigEndian.Uint64(octets[:])
	}
	slices.SortFunc(all, func(a, b rank) int {
		if a.octets != b.octets {
			return cmp.Compare(a.octets, b.octets)
		}
		return bytes.Compare(r.keyOf(&r.entries[a.index]), r.keyOf(&r.entries[b.index]))
	})
}
