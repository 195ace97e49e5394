package numbers

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// What a set is made of.
const (
	blockSize = 64 // numbers behind one of the index: a look-up reads two or three lines of the cache
	slabBits  = 20
	slabSize  = 1 << slabBits // octets
)

// A set is sorted numbers without duplicates, in blocks. A block is in one slab, and has what is to be added to its first
// number, in as many octets as the largest of these needs.
//
//	first[i] ─► slabs[at[i]>>20][at[i]&0xfffff:]  +---------------+---------------+----
//	                                              | added width[i]| added width[i]| ...   63, fewer in the last block
//	                                              +---------------+---------------+----
type set struct {
	first []uint64
	at    []uint32
	width []uint8
	slabs [][]byte
	n     int

	block []uint64 // the last one, while numbers are added
}

// floor returns the greatest number of the set that is not greater than key, and reports whether there is one.
func (s *set) floor(key uint64) (uint64, bool) {
	low, high := 0, len(s.first)
	for low < high {
		if middle := int(uint(low+high) >> 1); s.first[middle] <= key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return 0, false
	}
	i := low - 1
	first, width := s.first[i], int(s.width[i])
	data := s.slabs[s.at[i]>>slabBits][s.at[i]&(slabSize-1):]
	behind, value := key-first, uint64(0)
	low, high = 0, min(blockSize, s.n-i*blockSize)-1
	for low < high {
		middle := int(uint(low+high) >> 1)
		if added := number(data[middle*width:], width); added <= behind {
			low, value = middle+1, added
		} else {
			high = middle
		}
	}
	return first + value, true
}

// number reads a number of some octets, the lowest first.
func number(data []byte, width int) (n uint64) {
	if len(data) >= 8 {
		return binary.LittleEndian.Uint64(data) & (1<<(8*width) - 1)
	}
	for i := range width {
		n |= uint64(data[i]) << (8 * i)
	}
	return n
}

// has reports whether a number is in the set.
func (s *set) has(key uint64) bool {
	value, ok := s.floor(key)
	return ok && value == key
}

// add appends a number that is greater than all others. flush follows the last one.
func (s *set) add(key uint64) {
	if len(s.block) == blockSize {
		s.flush()
	}
	s.block = append(s.block, key)
	s.n++
}

// flush appends the block.
func (s *set) flush() {
	if len(s.block) == 0 {
		return
	}
	first := s.block[0]
	width := (bits.Len64(s.block[len(s.block)-1]-first) + 7) / 8
	octets := width * (len(s.block) - 1)
	last := len(s.slabs) - 1
	if last < 0 || len(s.slabs[last])+octets > slabSize {
		s.slabs = append(s.slabs, make([]byte, 0, slabSize))
		last++
	}
	slab := s.slabs[last]
	s.first = append(s.first, first)
	s.at = append(s.at, uint32(last<<slabBits|min(len(slab), slabSize-1)))
	s.width = append(s.width, uint8(width))
	for _, key := range s.block[1:] {
		var added [8]byte
		binary.LittleEndian.PutUint64(added[:], key-first)
		slab = append(slab, added[:width]...)
	}
	s.slabs[last], s.block = slab, s.block[:0]
}

// octets returns the memory that the set takes.
func (s *set) octets() (n int) {
	for _, slab := range s.slabs {
		n += cap(slab)
	}
	return n + 8*cap(s.first) + 4*cap(s.at) + cap(s.width)
}

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
func (c *collector) set(keep func(key, last uint64) bool) (s set, duplicates int) {
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
		case s.n == 0 || keep == nil || keep(key, last):
			s.add(key)
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
	s.flush()
	if last := len(s.slabs) - 1; last >= 0 {
		s.slabs[last] = slices.Clone(s.slabs[last])
	}
	s.first, s.at, s.width, s.block = slices.Clone(s.first), slices.Clone(s.at), slices.Clone(s.width), nil
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
