package connector

import (
	"sync"
	"sync/atomic"

	"pmg/protocols"
)

// LostFields counts the fields that messages have lost which left by a connector.
type LostFields struct {
	counts sync.Map // *protocols.Loss → *atomic.Int64
}

// Add counts a loss, and reports whether it is the first of the field.
func (f *LostFields) Add(loss *protocols.Loss) (first bool) {
	n, ok := f.counts.Load(loss)
	if !ok {
		var found bool
		n, found = f.counts.LoadOrStore(loss, new(atomic.Int64))
		first = !found
	}
	n.(*atomic.Int64).Add(1)
	return first
}

// Counts returns the counts by the names of the fields.
func (f *LostFields) Counts() map[string]int64 {
	counts := map[string]int64{}
	for loss, n := range f.counts.Range {
		counts[loss.(*protocols.Loss).Field] += n.(*atomic.Int64).Load()
	}
	return counts
}
