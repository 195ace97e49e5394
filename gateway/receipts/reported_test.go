package receipts

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The table has the ids of the last receipts, however often and in whatever order they come, and no others.
func TestReported(t *testing.T) {
	r := newReported()
	random := rand.New(rand.NewPCG(1, 0))
	var all []uint64
	for range 5 * lastReceipts {
		id := 1 + random.Uint64N(3*lastReceipts)
		if random.IntN(8) == 0 {
			id *= 1 << 40
		}
		r.add(id)
		all = append(all, id)
		last := all[max(0, len(all)-lastReceipts):]
		other := all[random.IntN(len(all))]
		if !r.has(id) || random.IntN(20) == 0 && r.has(other) != slices.Contains(last, other) || r.has(1<<63+id) {
			t.Fatalf("%d receipts: %d or %d is wrong", len(all), id, other)
		}
	}
	if allocations := testing.AllocsPerRun(100, func() { r.add(7) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
