// Package sortedset holds up to some 10,000,000 numbers in little memory, in their order.
//
// # Start reading
//
// Set, then Merge, which merges parts that were sorted one by one.
package sortedset

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
)

// The sizes of a set's parts.
const (
	blockSize = 64 // numbers after each entry of the index: a look-up reads two or three cache lines
	slabBits  = 20
	slabSize  = 1 << slabBits // octets
)

// A Set is sorted numbers without duplicates, in blocks. A block is in one slab. It has the differences from its first number,
// each in as many octets as the largest needs.
//
//	first[i] ─► slabs[at[i]>>20][at[i]&0xfffff:]  +---------------+---------------+----
//	                                              | added width[i]| added width[i]| ...   63, fewer in the last block
//	                                              +---------------+---------------+----
type Set struct {
	first []uint64
	at    []uint32
	width []uint8
	slabs [][]byte
	n     int

	block []uint64 // the last block, while numbers are added
}

// Floor returns the greatest number of the set that is not greater than key, and the number of smaller ones. It reports
// whether there is such a number. It does not allocate.
func (s *Set) Floor(key uint64) (value uint64, position int, ok bool) {
	low, high := 0, len(s.first)
	for low < high {
		if middle := int(uint(low+high) >> 1); s.first[middle] <= key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return 0, 0, false
	}
	i := low - 1
	first, width := s.first[i], int(s.width[i])
	data := s.slabs[s.at[i]>>slabBits][s.at[i]&(slabSize-1):]
	behind, added := key-first, uint64(0)
	low, high = 0, min(blockSize, s.n-i*blockSize)-1
	for low < high {
		middle := int(uint(low+high) >> 1)
		if n := number(data[middle*width:], width); n <= behind {
			low, added = middle+1, n
		} else {
			high = middle
		}
	}
	return first + added, i*blockSize + low, true
}

// number decodes a number of width octets, least significant first.
func number(data []byte, width int) (n uint64) {
	if len(data) >= 8 {
		return binary.LittleEndian.Uint64(data) & (1<<(8*width) - 1)
	}
	for i := range width {
		n |= uint64(data[i]) << (8 * i)
	}
	return n
}

// Has reports whether a number is in the set.
func (s *Set) Has(key uint64) bool {
	value, _, ok := s.Floor(key)
	return ok && value == key
}

// Add appends a number that is greater than all others. End must be called after the last one.
func (s *Set) Add(key uint64) {
	if len(s.block) == blockSize {
		s.flush()
	}
	s.block = append(s.block, key)
	s.n++
}

// flush appends the block.
func (s *Set) flush() {
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

// End releases the memory that Add needs.
func (s *Set) End() {
	s.flush()
	if last := len(s.slabs) - 1; last >= 0 {
		s.slabs[last] = slices.Clone(s.slabs[last])
	}
	s.first, s.at, s.width, s.block = slices.Clone(s.first), slices.Clone(s.at), slices.Clone(s.width), nil
}

// All returns the numbers of the set, in their order. It does not allocate for each.
func (s *Set) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, first := range s.first {
			if !yield(first) {
				return
			}
			width := int(s.width[i])
			data := s.slabs[s.at[i]>>slabBits][s.at[i]&(slabSize-1):]
			for n := range min(blockSize, s.n-i*blockSize) - 1 {
				if !yield(first + number(data[n*width:], width)) {
					return
				}
			}
		}
	}
}

// Len returns the number of numbers in the set.
func (s *Set) Len() int { return s.n }

// Octets returns the memory that the set takes.
func (s *Set) Octets() (n int) {
	for _, slab := range s.slabs {
		n += cap(slab)
	}
	return n + 8*cap(s.first) + 4*cap(s.at) + cap(s.width)
}
