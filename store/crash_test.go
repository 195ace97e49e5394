package store

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// crashes is how often the power is cut in the history of a seed.
const crashes = 5

// Nothing that was confirmed is lost in a power cut, nothing that was deleted comes back, and
// a batch is there whole or not at all.
func TestCrash(t *testing.T) {
	t.Parallel()
	eachSeed(t, crashSeeds, func(t *testing.T, seed uint64) {
		if d := crashOften(t, seed, Options{segment: 16 << 10, atOnce: 2, flush: 4 << 10, tables: 3}); d != "" {
			t.Error(d)
		}
	})
}

// The test above finds what is lost: without syncs it fails.
func TestCrashUnsynced(t *testing.T) {
	t.Parallel()
	var lost atomic.Int64
	eachSeed(t, crashSeeds/10, func(t *testing.T, seed uint64) {
		if d := crashOften(t, seed, Options{segment: 16 << 10, atOnce: 2, flush: 4 << 10, tables: 3, noSync: true}); d != "" {
			t.Log(d)
			lost.Add(1)
		}
	})
	if lost.Load() < crashSeeds/20 {
		t.Errorf("only %d of %d stores without syncs have lost something", lost.Load(), crashSeeds/10)
	}
}

// crashOften says what a store has lost in power cuts, or has brought back.
func crashOften(t *testing.T, seed uint64, o Options) string {
	h := newHistory(t, seed, o)
	for range crashes {
		for range h.rand.IntN(40) {
			h.step()
		}
		h.crash([]int{0, 50, 100}[h.rand.IntN(3)])
		h.open(o)
		if d := h.settle(); d != "" {
			_ = h.store.Close()
			return d
		}
	}
	if err := h.store.Close(); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	return ""
}

// eachSeed runs a test for each of the seeds from 1 on, some at the same time, and waits.
func eachSeed(t *testing.T, seeds uint64, f func(t *testing.T, seed uint64)) {
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(1+seed), func(t *testing.T) {
				t.Parallel()
				f(t, 1+seed)
			})
		}
	})
}
