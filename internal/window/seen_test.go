package window

import (
	"math/rand/v2"
	"testing"
)

// A claim is what a naive memory of claims has, the oldest first.
type claim struct {
	hash  uint64
	at    int64
	claim uint32
}

// naive remembers claims in a list.
type naive struct {
	within int64
	keep   int
	all    []claim
}

func (n *naive) has(at int64, hash uint64) bool {
	for _, c := range n.all {
		if c.hash == hash && at-c.at < n.within {
			return true
		}
	}
	return false
}

func (n *naive) claim(at int64, hash uint64, number uint32) {
	var left []claim
	for _, c := range n.all {
		if c.hash != hash {
			left = append(left, c)
		}
	}
	for len(left) > 0 && (at-left[0].at >= n.within || len(left) >= n.keep) {
		left = left[1:]
	}
	n.all = append(left, claim{hash, at, number})
}

// Seen answers as a list of claims does that is searched from end to end: with claims that are given back, terms that
// change, and more hashes than are kept.
func TestSeenIsAsNaive(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := &naive{within: 1 + r.Int64N(40), keep: 1 + r.IntN(600)}
		s := NewSeen(n.within, n.keep)
		hashes := uint64(1 + r.IntN(1000))
		at := int64(0)
		for i := range 4000 {
			at += r.Int64N(3) - r.Int64N(2)*r.Int64N(2) // sometimes back by one, as other goroutines have it
			hash := r.Uint64N(hashes) << (seed % 3 * 30)
			switch r.IntN(20) {
			case 0:
				if len(n.all) > 0 {
					k := r.IntN(len(n.all))
					s.GiveBack(n.all[k].at, n.all[k].claim)
					n.all = append(n.all[:k:k], n.all[k+1:]...)
				}
				continue
			case 1:
				if i%100 == 0 {
					n.within, n.keep = 1+r.Int64N(40), 1+r.IntN(600)
					n.all = n.all[max(0, len(n.all)-n.keep):]
					s.SetTerms(n.within, n.keep)
				}
			}
			want := !n.has(at, hash)
			if s.Has(at, hash) == want {
				t.Fatalf("seed %d, call %d: Has(%d, %d) is %t", seed, i, at, hash, want)
			}
			number, ok := s.Claim(at, hash)
			if ok != want || ok == (number == 0) {
				t.Fatalf("seed %d, call %d: Claim(%d, %d) is %d, %t; want %t", seed, i, at, hash, number, ok, want)
			}
			if ok {
				n.claim(at, hash, number)
			}
			if left, _ := s.Sweep(at, 0); left > n.keep {
				t.Fatalf("seed %d, call %d: %d hashes, not %d", seed, i, left, n.keep)
			}
		}
	}
}

// A hash is remembered for less than the time, counted from its claim and not from what was refused.
func TestSeenBounds(t *testing.T) {
	t.Parallel()
	s := NewSeen(10, 2)
	for _, c := range []struct {
		at   int64
		hash uint64
		ok   bool
	}{
		{100, 1, true}, {100, 1, false}, {109, 1, false}, {110, 1, true}, {119, 1, false},
		{119, 2, true}, {119, 3, true}, {119, 1, true}, // two are kept
		{119, 3, false}, {119, 2, true}, {120, 0, true}, {121, 0, false},
	} {
		if _, ok := s.Claim(c.at, c.hash); ok != c.ok {
			t.Errorf("%+v: %t", c, ok)
		}
	}
}

// What is given back can be claimed again. A claim whose place another hash has got meanwhile, or that was given back, is
// nobody's.
func TestSeenGiveBack(t *testing.T) {
	t.Parallel()
	s := NewSeen(10, 1)
	first, _ := s.Claim(1, 1)
	second, _ := s.Claim(2, 2) // in the place of the first
	s.GiveBack(1, first)
	s.GiveBack(2, 0)
	s.GiveBack(2, second+1)
	if !s.Has(3, 2) {
		t.Error("the place of the first claim was given back with it")
	}
	s.GiveBack(2, second)
	s.GiveBack(2, second)
	if s.Has(3, 2) {
		t.Error("it was not given back")
	}
	if _, ok := s.Claim(3, 2); !ok {
		t.Error("it cannot be claimed again")
	}
}

// What is too old is forgotten a little with each claim, and by Sweep.
func TestSeenSweeps(t *testing.T) {
	t.Parallel()
	s := NewSeen(10, 1000)
	for i := range uint64(100) {
		s.Claim(1, i)
	}
	if left, more := s.Sweep(10, 30); left != 100 || more {
		t.Errorf("%d are left, more: %t", left, more)
	}
	s.Claim(11, 1000)
	if left, more := s.Sweep(11, 0); left != 101-sweeps || !more {
		t.Errorf("%d are left, more: %t", left, more)
	}
	if left, more := s.Sweep(11, 100); left != 1 || more {
		t.Errorf("%d are left, more: %t", left, more)
	}
}

// Claims and counts allocate nothing when their tables have got their pieces.
func TestNoAllocations(t *testing.T) {
	s, c := NewSeen(100, 1000), NewCounts(NewSpan(100), 1000)
	at := int64(0)
	one := func() {
		at++
		claim, _ := s.Claim(at, uint64(at%3000))
		s.GiveBack(at, claim)
		s.Claim(at, uint64(at))
		c.Add(at, uint64(at))
		c.Of(at, uint64(at))
	}
	for range 5000 {
		one()
	}
	if n := testing.AllocsPerRun(1000, one); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClaim(b *testing.B) {
	s := NewSeen(1_000_000, 100_000)
	at := int64(0)
	for b.Loop() {
		at += 20
		s.Claim(at, uint64(at)*0x9E3779B97F4A7C15)
	}
}

func BenchmarkCount(b *testing.B) {
	c := NewCounts(NewSpan(1_000_000), 100_000)
	at := int64(0)
	for b.Loop() {
		at += 20
		hash := uint64(at%65_536) * 0x9E3779B97F4A7C15
		if c.Of(at, hash) < 5 {
			c.Add(at, hash)
		}
	}
}

// A hash that is renewed is remembered from then on, and is not the oldest any more.
func TestRenew(t *testing.T) {
	t.Parallel()
	s := NewSeen(10, 2)
	s.Renew(1, 7)
	s.Renew(2, 8)
	s.Renew(5, 7)
	if !s.Has(14, 7) || s.Has(15, 7) || !s.Has(11, 8) || s.Has(12, 8) {
		t.Error("not remembered from the last time on")
	}
	if s.Renew(6, 9); !s.Has(6, 7) || s.Has(6, 8) {
		t.Error("not the oldest was dropped")
	}
}
