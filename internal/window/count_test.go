package window

import (
	"math/rand/v2"
	"testing"
)

// In no time as long as the span more is added than most, and nothing is refused if less than most came in the span
// and a twelfth of it before, as a list of all times shows.
func TestCountIsAsNaive(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		within, most := 1+r.Int64N(5000), 1+r.IntN(20)
		s := NewSpan(within)
		c := NewCounts(s, 4)
		var added [3][]int64
		at := int64(r.IntN(1_000_000))
		recent := func(hash int, since int64) (n int) {
			for _, a := range added[hash] {
				if at-a < since {
					n++
				}
			}
			return n
		}
		refused := 0
		for i := range 3000 {
			at += r.Int64N(within/int64(most)/2 + 1)
			hash := r.IntN(3)
			if r.IntN(10) == 0 && len(added[hash]) > 0 {
				last := len(added[hash]) - 1
				c.GiveBack(added[hash][last], uint64(hash))
				added[hash] = added[hash][:last]
			}
			// slices are whole nanoseconds, so that the span is up to 11 longer than within
			exact, longest := recent(hash, within), recent(hash, within+11+(within+11)/12+1)
			passes := c.Of(at, uint64(hash)) < most
			if passes && exact >= most || !passes && longest < most {
				t.Fatalf("seed %d, call %d: passes %t, of %d came %d within %d, and %d a little earlier", seed, i, passes, most, exact, within, longest)
			}
			if !passes {
				refused++
				continue
			}
			c.Add(at, uint64(hash))
			added[hash] = append(added[hash], at)
		}
		if refused == 0 {
			t.Errorf("seed %d refuses nothing", seed)
		}
	}
}

// What came counts until the slice has passed that is twelve behind its own.
func TestCountBounds(t *testing.T) {
	t.Parallel()
	s := NewSpan(120)
	for _, c := range []struct {
		added, at int64
		want      int
	}{
		{1000, 1000, 1}, {1000, 1129, 1}, {1000, 1130, 0}, {1009, 1129, 1}, {1009, 1130, 0}, {1010, 1139, 1},
		{1000, 900, 1}, {1000, 1_000_000, 0}, {0, 129, 1}, {0, 130, 0}, {-5, 129, 1}, {-5, 130, 0},
	} {
		var n Count
		if n.Add(s, c.added); n.Of(s, c.at) != c.want {
			t.Errorf("%+v: %d", c, n.Of(s, c.at))
		}
	}
	for within, want := range map[int64]int64{0: 1, 1: 1, 12: 1, 13: 2, 24: 2, 25: 3} {
		if got := NewSpan(within).slice; got != want {
			t.Errorf("%d: slices of %d, not %d", within, got, want)
		}
	}
}

// A time before the slices that are counted is that of the oldest of them, and one is given back in its own slice alone.
func TestCountGiveBack(t *testing.T) {
	t.Parallel()
	s := NewSpan(120)
	var n Count
	n.Add(s, 1130) // slice 113, so that 101 is the oldest
	n.Add(s, 500)
	if n.Of(s, 1130) != 2 || n.Of(s, 1140) != 1 {
		t.Errorf("%d in the end: %v", n.Of(s, 1140), n)
	}
	for _, at := range []int64{1000, 1131 + 130, 1120} { // forgotten, to come, another slice
		if n.GiveBack(s, at); n.Of(s, 1140) != 1 {
			t.Errorf("given back at %d: %d", at, n.Of(s, 1140))
		}
	}
	for range 2 {
		if n.GiveBack(s, 1139); n.Of(s, 1140) != 0 {
			t.Error("it was not given back, or twice")
		}
	}
	n.Add(s, 1140)
	n.Add(s, 1150)
	n.GiveBack(s, 1140) // of slices 103 to 115
	if n.Of(s, 1150) != 1 {
		t.Errorf("%d of two are left", n.Of(s, 1150))
	}
	n.Add(s, 1030)
	if n.GiveBack(s, 1030); n.Of(s, 1150) != 1 {
		t.Errorf("%d with the oldest slice", n.Of(s, 1150))
	}
}

// The counts that were added to last are kept, and those are removed whose time is over.
func TestCountsAreBounded(t *testing.T) {
	t.Parallel()
	c := NewCounts(NewSpan(120), 3)
	for _, hash := range []uint64{1, 2, 3, 1, 4} {
		c.Add(1000, hash)
	}
	for hash, want := range []int{0, 2, 0, 1, 1} {
		if n := c.Of(1000, uint64(hash)); n != want {
			t.Errorf("hash %d: %d, not %d", hash, n, want)
		}
	}
	c.GiveBack(1000, 2) // which is forgotten
	if c.GiveBack(1000, 1); c.Of(1000, 1) != 1 || c.Len() != 3 {
		t.Errorf("%d of hash 1; %d hashes", c.Of(1000, 1), c.Len())
	}
	c.SetKeep(2)
	if c.Of(1000, 3) != 0 || c.Of(1000, 1) != 1 || c.Of(1000, 4) != 1 {
		t.Error("with fewer, the oldest is kept")
	}
	c.SetKeep(1000)
	c.Add(1129, 5)
	if c.Len() != 3 {
		t.Errorf("%d hashes while all count", c.Len())
	}
	c.Add(1130, 5)
	if c.Len() != 1 || c.Of(1130, 5) != 2 {
		t.Errorf("%d hashes, of which %d", c.Len(), c.Of(1130, 5))
	}
}
