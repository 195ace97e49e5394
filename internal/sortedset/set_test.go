package sortedset

import (
	"slices"
	"testing"
)

// All returns what was added, in order, and ends when asked to.
func TestAll(t *testing.T) {
	t.Parallel()
	for _, step := range []uint64{1, 250, 70_001, 1 << 40} {
		for _, n := range []int{0, 1, 63, 64, 65, 128, 1000} {
			var s Set
			var want []uint64
			for i := range uint64(n) {
				want = append(want, 17+i*step)
				s.Add(17 + i*step)
			}
			s.End()
			if got := slices.Collect(s.All()); !slices.Equal(got, want) {
				t.Errorf("%d in steps of %d: %d", n, step, len(got))
			}
			for range s.All() {
				break
			}
		}
	}
}
