package numbers

import (
	"encoding/binary"
	"slices"

	"pmg/internal/sortedset"
)

// A collector takes numbers in any order, and makes a set of them. It stores them as sorted runs, which need
// about as much memory as the set.
type collector struct {
	keys []uint64
	runs []sortedset.Run[struct{}] // the differences of sorted numbers, as varints
	run  []byte                    // buffer for a run
	n    int
	rest func() // yields the processor for a moment
}

func (c *collector) add(key uint64) {
	if c.keys == nil {
		c.keys = make([]uint64, 0, sortedset.RunSize)
	}
	c.keys = append(c.keys, key)
	if c.n++; len(c.keys) == sortedset.RunSize {
		c.cut()
	}
}

// cut makes a run of the numbers that were added since the last run.
func (c *collector) cut() {
	if len(c.keys) == 0 {
		return
	}
	slices.Sort(c.keys)
	last := uint64(0)
	c.run = c.run[:0]
	for _, key := range c.keys {
		c.run = binary.AppendUvarint(c.run, key-last)
		last = key
	}
	rest, key := slices.Clip(slices.Clone(c.run)), uint64(0)
	c.runs, c.keys = append(c.runs, func() (uint64, struct{}, bool) {
		delta, n := binary.Uvarint(rest)
		key, rest = key+delta, rest[n:]
		return key, struct{}{}, n > 0
	}), c.keys[:0]
	c.rest()
}

// set merges the runs, and empties the collector. keep selects the numbers that stay; duplicates were already dropped.
func (c *collector) set(keep func(key, last uint64) bool) (s sortedset.Set, duplicates int) {
	c.cut()
	last, before, first := uint64(0), uint64(0), true
	sortedset.Merge(c.runs, func(_, _ struct{}) bool { return false }, func(key uint64, _ struct{}) {
		switch {
		case !first && key == before:
			duplicates++
		case first || keep == nil || keep(key, last):
			s.Add(key)
			last = key
		}
		before, first = key, false
	}, c.rest)
	s.End()
	*c = collector{rest: c.rest}
	return s, duplicates
}
