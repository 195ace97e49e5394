package connector

import "sync/atomic"

// Inflight pairs the requests under way on one session with their answers. The pdu builder puts
// requests and the builder takes them, on different goroutines and without a lock. The sequence
// number selects a cell, and a number whose cell is taken is skipped. The encoder finds a number
// free some time before the pdu builder puts it. In between the encoder assigns at most a window of
// further numbers. There are enough cells that those numbers select other cells.
type Inflight struct {
	cells atomic.Pointer[[]atomic.Pointer[Slot]] // length is a power of two
}

// cellsPerSlot keeps skipped sequence numbers rare.
const cellsPerSlot = 4

// cellsFor returns how many cells a window needs.
func cellsFor(window int) int {
	n := 8
	for n < window*cellsPerSlot {
		n *= 2
	}
	return n
}

// Free reports whether no request with that sequence number is under way. It is safe for
// concurrent use.
func (f *Inflight) Free(sequence uint32, window int) bool {
	cells := f.cells.Load()
	if cells == nil {
		made := make([]atomic.Pointer[Slot], cellsFor(window))
		f.cells.CompareAndSwap(nil, &made) // another goroutine may have been first
		cells = f.cells.Load()
	}
	return f.cell(*cells, sequence).Load() == nil
}

// Put stores a slot by its sequence number, which must be free. The slot may be taken immediately
// afterwards, even by an answer that arrives before the request is written.
func (f *Inflight) Put(slot *Slot) { f.cell(*f.cells.Load(), slot.Sequence).Store(slot) }

func (f *Inflight) cell(cells []atomic.Pointer[Slot], sequence uint32) *atomic.Pointer[Slot] {
	return &cells[sequence&uint32(len(cells)-1)]
}

// Take removes and returns the slot with that sequence number, or nil if there is none.
func (f *Inflight) Take(sequence uint32) *Slot {
	cells := f.cells.Load()
	if cells == nil {
		return nil
	}
	cell := f.cell(*cells, sequence)
	slot := cell.Load()
	if slot == nil || slot.Sequence != sequence || !cell.CompareAndSwap(slot, nil) {
		return nil
	}
	return slot
}

// TakeOnly removes and returns the slot if exactly one request is under way. Otherwise slot is nil.
// used is how many requests are under way.
func (f *Inflight) TakeOnly() (slot *Slot, used int) {
	cells := f.cells.Load()
	if cells == nil {
		return nil, 0
	}
	for i := range *cells {
		if s := (*cells)[i].Load(); s != nil {
			slot = s
			used++
		}
	}
	if used != 1 {
		return nil, used
	}
	return f.Take(slot.Sequence), 1
}

// Used returns how many requests are under way. It is safe for concurrent use.
func (f *Inflight) Used() (n int) {
	if cells := f.cells.Load(); cells != nil {
		for i := range *cells {
			if (*cells)[i].Load() != nil {
				n++
			}
		}
	}
	return n
}

// Overdue removes the slots sent before a time, and calls f for each.
func (f *Inflight) Overdue(before int64, done func(*Slot)) {
	cells := f.cells.Load()
	if cells == nil {
		return
	}
	for i := range *cells {
		cell := &(*cells)[i]
		if slot := cell.Load(); slot != nil && slot.Sent < before && cell.CompareAndSwap(slot, nil) {
			done(slot)
		}
	}
}
