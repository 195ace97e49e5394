package sortedset

// RunSize is the number of items that are sorted together, in less than 10 ms.
const RunSize = 1 << 16

// A Run returns the items in order of their keys, one at each call, and reports whether there was one.
type Run[T any] func() (key uint64, item T, ok bool)

// A head is the next item of a run.
type head[T any] struct {
	key  uint64
	item T
	next Run[T]
}

// Merge calls take with the items of all runs in order of their keys. before reports whether the first of two items with the
// same key comes first. rest yields the processor for a moment. No run may be empty.
func Merge[T any](runs []Run[T], before func(a, b T) bool, take func(uint64, T), rest func()) {
	heads := make([]head[T], len(runs)) // a heap, whose root is the smallest
	for i := len(runs) - 1; i >= 0; i-- {
		key, item, _ := runs[i]()
		sift(heads, i, head[T]{key, item, runs[i]}, before)
	}
	for n := 1; len(heads) > 0; n++ {
		h, ok := heads[0], false
		take(h.key, h.item)
		if h.key, h.item, ok = h.next(); !ok {
			h = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
		}
		if len(heads) > 0 {
			sift(heads, 0, h, before)
		}
		if n%RunSize == 0 {
			rest()
		}
	}
}

// sift puts a head into the heap, at i or below.
func sift[T any](heads []head[T], i int, h head[T], before func(a, b T) bool) {
	less := func(a, b *head[T]) bool { return a.key < b.key || a.key == b.key && before(a.item, b.item) }
	for child := 2*i + 1; child < len(heads); child = 2*i + 1 {
		if child+1 < len(heads) && less(&heads[child+1], &heads[child]) {
			child++
		}
		if !less(&heads[child], &h) {
			break
		}
		heads[i], i = heads[child], child
	}
	heads[i] = h
}
