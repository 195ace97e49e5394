package ucp

import "sync/atomic"

// trns is the number of TRNs.
const trns = 100

// A window is the TRNs of our operations. A TRN is used again after its operation was answered. The TRN of an operation that
// was never answered is used again only if no other is free, the oldest first, because a late answer would match the wrong
// operation.
//
// Any goroutine may give out TRNs. Those of operations that carry messages are given
// back by the goroutine that receives the results.
type window struct {
	last  atomic.Uint32 // last TRN that was assigned, plus 1
	count atomic.Uint32 // number of assigned TRNs, for their order
	given [trns]atomic.Uint64
}

// An assigned TRN is stored as the number of earlier assignments, shifted, and the operation.
const givenShift = 8

// next assigns a TRN. taken reports whether a request with a TRN awaits its answer.
func (w *window) next(taken func(uint32) bool) uint32 {
	for {
		n, free := w.find(taken)
		old := w.given[n].Load()
		if free && old != 0 {
			continue // another goroutine has assigned it first
		}
		if w.given[n].CompareAndSwap(old, uint64(w.count.Add(1))<<givenShift) {
			w.last.Store(n + 1)
			return n
		}
	}
}

// find returns the next free TRN, or else the one assigned longest ago without a waiting request.
func (w *window) find(taken func(uint32) bool) (n uint32, free bool) {
	first := ^uint64(0)
	from := w.last.Load()
	for i := range uint32(trns) {
		trn := (from + i) % trns
		if taken != nil && taken(trn) {
			continue
		}
		given := w.given[trn].Load()
		if given == 0 {
			return trn, true
		}
		if given < first {
			n, first = trn, given
		}
	}
	return n, false
}

// asks records the operation of an assigned TRN.
func (w *window) asks(trn uint32, ot uint8) {
	if trn < trns {
		given := &w.given[trn]
		given.Store(given.Load()&^(1<<givenShift-1) | uint64(ot))
	}
}

// answered frees the TRN of an operation, and reports whether the operation had it.
func (w *window) answered(trn, ot uint8) bool {
	given := &w.given[trn]
	old := given.Load()
	return old != 0 && uint8(old) == ot && given.CompareAndSwap(old, 0)
}
