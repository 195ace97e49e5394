package numbers

import (
	"encoding/binary"
	"slices"

	"pmg/internal/sortedset"
)

// runSize is how many numbers are sorted at a time. It takes about 4 ms.
const runSize = 1 << 16

// A collector takes numbers in any order, and makes a set of them. Between the two it has them as sorted runs, which take
// about as much memory as the set.
type collector struct {
	keys []uint64
	runs [][]byte // the differences of sorted numbers, as varints
	run  []byte   // room for one
	n    int
	rest func() // gives up the processor for a moment
}

func (c *collector) add(key uint64) {
	if c.keys == nil {
		c.keys = make([]uint64, 0, runSize)
	}
	c.keys = append(c.keys, key)
	if c.n++; len(c.keys) == runSize {
		c.cut()
	}
}

// cut makes a run of the numbers since the last one.
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
	c.runs, c.keys = append(c.runs, slices.Clip(slices.Clone(c.run))), c.keys[:0]
	c.rest()
}

// A head is the next number of a run.
type head struct {
	key  uint64
	rest []byte
}

// next moves on to the next number, and reports whether there is one.
func (h *head) next() bool {
	if len(h.rest) == 0 {
		return false
	}
	delta, n := binary.Uvarint(h.rest)
	h.key, h.rest = h.key+delta, h.rest[n:]
	return true
}

// set merges the runs. keep says which numbers stay; those that are as the one before them have been left out. The
// collector is empty then.
func (c *collector) set(keep func(key, last uint64) bool) (s sortedset.Set, duplicates int) {
	c.cut()
	heads := make([]head, len(c.runs))
	for i, run := range c.runs {
		heads[i] = head{rest: run}
		heads[i].next() // no run is empty
	}
	for i := len(heads)/2 - 1; i >= 0; i-- {
		sift(heads, i)
	}
	last, before, taken := uint64(0), uint64(0), 0
	for len(heads) > 0 {
		switch key := heads[0].key; {
		case taken > 0 && key == before:
			duplicates++
		case s.Len() == 0 || keep == nil || keep(key, last):
			s.Add(key)
			last = key
		}
		before = heads[0].key
		if !heads[0].next() {
			heads[0] = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
		}
		sift(heads, 0)
		if taken++; taken%runSize == 0 {
			c.rest()
		}
	}
	s.End()
	*c = collector{rest: c.rest}
	return s, duplicates
}

// sift moves the head at i down to its place in the heap, whose first number is the least.
func sift(heads []head, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heads); child++ {
			if heads[child].key < heads[least].key {
				least = child
			}
		}
		if least == i {
			return
		}
		heads[i], heads[least] = heads[least], heads[i]
		i = least
	}
}
