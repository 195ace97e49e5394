package numbers

import (
	"bytes"
	"slices"
)

// words are names, sorted after sort.
type words struct {
	all []byte
	at  []uint32 // offsets of the words in all; a word ends where the next begins
}

// word returns name i.
func (w *words) word(i int) []byte {
	if i+1 < len(w.at) {
		return w.all[w.at[i]:w.at[i+1]]
	}
	return w.all[w.at[i]:]
}

// has reports whether words contain a name.
func (w *words) has(name []byte) bool {
	low, high := 0, len(w.at)
	for low < high {
		switch middle := int(uint(low+high) >> 1); bytes.Compare(w.word(middle), name) {
		case 0:
			return true
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

// hasPrefixOf reports whether a name begins with one of the words.
func (w *words) hasPrefixOf(name []byte) bool {
	for n := 1; len(w.at) > 0 && n <= len(name); n++ {
		if w.has(name[:n]) {
			return true
		}
	}
	return false
}

// add appends a name, in any order; sort must follow.
func (w *words) add(name []byte) {
	w.at = append(w.at, uint32(len(w.all)))
	w.all = append(w.all, name...)
}

// sort sorts the names, and returns the number of duplicates.
func (w *words) sort() (duplicates int) {
	order := make([]int, len(w.at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(w.word(a), w.word(b)) })
	sorted := words{all: make([]byte, 0, len(w.all)), at: make([]uint32, 0, len(w.at))}
	for i, n := range order {
		if i > 0 && bytes.Equal(w.word(n), w.word(order[i-1])) {
			duplicates++
			continue
		}
		sorted.add(w.word(n))
	}
	*w = sorted
	return duplicates
}

// octets returns the memory that the names take.
func (w *words) octets() int { return cap(w.all) + 4*cap(w.at) }
