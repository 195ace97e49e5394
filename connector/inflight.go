package connector

import "sync/atomic"

// Inflight pairs the requests under way on one session with their answers. One
// goroutine puts (the pdu builder), another takes (the builder), without a lock: the
// sequence number picks a cell, and a number whose cell is still taken is skipped. A
// number may be put later than it was found free (by the encoder): cells are so many
// that those given out since, a window at most, do not come round to it.
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

// Free reports whether no request is under way by that sequence number. It is safe
// for concurrent use.
func (f *Inflight) Free(sequence uint32, window int) bool {
	cells := f.cells.Load()
	if cells == nil {
		made := make([]atomic.Pointer[Slot], cellsFor(window))
		f.cells.CompareAndSwap(nil, &made) // another goroutine may have been first
		cells = f.cells.Load()
	}
	return f.cell(*cells, sequence).Load() == nil
}

// Put stores a slot by its sequence number, which is free. From then on the slot
// may be taken, by an answer that comes before its request is written even.
func (f *Inflight) Put(slot *Slot) { f.cell(*f.cells.Load(), slot.Sequence).Store(slot) }

func (f *Inflight) cell(cells []atomic.Pointer[Slot], sequence uint32) *atomic.Pointer[Slot] {
	return &cells[sequence&uint32(len(cells)-1)]
}

// Take removes and returns the slot with that sequence number, nil if there is none.
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

// Overdue takes out the slots sent before a time, and calls f for each.
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
