package lease_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pmg/cluster/lease"
	"pmg/cluster/lease/memory"
	"pmg/internal/testkit/testutil"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

func options(node string) lease.Options {
	return lease.Options{Node: node, Lease: 3 * time.Second, Dead: 4 * time.Second, Beat: 500 * time.Millisecond, Eligible: true}
}

// start makes a Holder and runs it until stop is called, or the test ends.
func start(t *testing.T, cell *memory.Cell, o lease.Options) (h *lease.Holder, stop func()) {
	t.Helper()
	h, err := lease.New(cell.Of(o.Node), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return h, stop
}

// become waits for a state.
func become(t *testing.T, h *lease.Holder, s lease.State) lease.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
	defer cancel()
	for number := uint64(0); ; {
		status, err := h.Wait(ctx, number)
		if err != nil {
			t.Fatalf("waited in vain for %s: %+v", s, status)
		}
		if number = status.Number; status.State == s {
			return status
		}
	}
}

// The times are those of the fake clock, which is exact.
func TestLeaseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		a, _ := start(t, cell, options("a"))
		if s := become(t, a, lease.Owner); s.Epoch != 1 || s.Owner != "a" || !s.Holding || !a.Holds() {
			t.Fatalf("%+v, holds %t", s, a.Holds())
		}
		b, _ := start(t, cell, options("b"))
		time.Sleep(10*time.Second + time.Millisecond) // a heartbeat has left 1 ms ago
		cell.Cut("a", true)
		time.Sleep(3*time.Second - time.Millisecond - 1)
		if !a.Holds() || b.Holds() {
			t.Errorf("before the end of the lease a holds %t, b %t", a.Holds(), b.Holds())
		}
		time.Sleep(time.Nanosecond)
		if a.Holds() || b.Holds() {
			t.Errorf("at the end of the lease a holds %t, b %t", a.Holds(), b.Holds())
		}
		synctest.Wait()
		want := "no heartbeat was acknowledged for 3s: context deadline exceeded"
		if s := a.Status(); s.State != lease.Owner || s.Holding || s.Why != want {
			t.Errorf("%+v", s)
		}
		if s := become(t, b, lease.Owner); s.Epoch != 2 || a.Holds() || !b.Holds() || s.Why != "no heartbeat of node a was seen for 4s" {
			t.Errorf("%+v, a holds %t, b %t", s, a.Holds(), b.Holds())
		}
		cell.Cut("a", false)
		if s := become(t, a, lease.Deposed); s.Owner != "b" || s.Why != "another node has taken over: node b is the owner, with epoch 2" {
			t.Errorf("%+v", s)
		}
	})
}

// The lease runs from the time at which the last acknowledged heartbeat left, however long its answer took.
func TestSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var left []time.Time
		cell := memory.New(func(_ string, update bool) memory.Fault {
			mu.Lock()
			defer mu.Unlock()
			if update {
				left = append(left, time.Now())
			}
			return memory.Fault{Request: 200 * time.Millisecond, Answer: 700 * time.Millisecond}
		})
		a, _ := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		time.Sleep(10*time.Second + 10*time.Millisecond)
		mu.Lock()
		acknowledged := left[len(left)-2] // the answer of the last one is under way
		mu.Unlock()
		cell.Cut("a", true)
		time.Sleep(time.Until(acknowledged.Add(3*time.Second)) - 1)
		if !a.Holds() {
			t.Error("the lease has ended early")
		}
		time.Sleep(time.Nanosecond)
		if a.Holds() {
			t.Error("the lease has not ended 3 s after its last acknowledged heartbeat left")
		}
	})
}

// A node that hands over holds nothing from then on, though a heartbeat is under way and its answer comes later.
func TestReleaseDuringHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(func(string, bool) memory.Fault { return memory.Fault{Answer: 900 * time.Millisecond} })
		a, _ := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		time.Sleep(10*time.Second + 100*time.Millisecond) // heartbeats leave every 900 ms
		released := make(chan error, 1)
		go func() { released <- a.Release(t.Context(), "") }()
		synctest.Wait()
		if a.Holds() {
			t.Error("it holds the lease after it was asked to hand over")
		}
		if err := testutil.Receive(t, "the release", released); err != nil || a.Holds() {
			t.Errorf("%v, holds %t", err, a.Holds())
		}
	})
}

// Waiters hear of the end of a lease when it ends, not when the call is over that is under way.
func TestLapseIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		a, _ := start(t, cell, options("a"))
		owner := become(t, a, lease.Owner)
		time.Sleep(10*time.Second + time.Millisecond) // a heartbeat has left 1 ms ago
		cell.Cut("a", true)
		began := time.Now()
		s, err := a.Wait(t.Context(), owner.Number)
		if took := time.Since(began); err != nil || s.Holding || took != 3*time.Second-time.Millisecond {
			t.Errorf("after %s: %+v, %v", took, s, err)
		}
	})
}

// A node that always reads the same old value takes nothing over from an owner whose heartbeats it does not see.
func TestStuckReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cell *memory.Cell
		cell = memory.New(func(node string, update bool) (f memory.Fault) {
			if n := len(cell.Values()); node == "b" && !update && n > 1 {
				f.Stale = uint64(n - 1)
			}
			return f
		})
		a, _ := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		b, _ := start(t, cell, options("b"))
		time.Sleep(time.Minute)
		if s := b.Status(); s.State != lease.Standby || s.Owner != "a" || !a.Holds() {
			t.Errorf("%+v, a holds %t", s, a.Holds())
		}
	})
}

func TestReleaseIsFast(t *testing.T) {
	for _, next := range []string{"", "c"} {
		synctest.Test(t, func(t *testing.T) {
			cell := memory.New(nil)
			a, _ := start(t, cell, options("a"))
			become(t, a, lease.Owner)
			b, _ := start(t, cell, options("b"))
			time.Sleep(time.Millisecond)
			c, _ := start(t, cell, options("c"))
			time.Sleep(10*time.Second + 100*time.Millisecond) // b reads before c
			began := time.Now()
			if err := a.Release(t.Context(), next); err != nil || a.Holds() || a.Status().State != lease.Released {
				t.Fatalf("%v, holds %t, %+v", err, a.Holds(), a.Status())
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("it took %s of the fake clock, on which the cell answers immediately", took)
			}
			h, other := b, c
			if next == "c" {
				h, other = c, b
			}
			if s := become(t, h, lease.Owner); s.Epoch != 2 || s.Why != "node a had handed over" || time.Since(began) > time.Second || other.Holds() {
				t.Errorf("after %s: %+v", time.Since(began), s)
			}
		})
	}
}

func TestReleaseErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		a, stop := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		for _, next := range []string{"a", "b c"} {
			if err := a.Release(t.Context(), next); err == nil || !a.Holds() {
				t.Errorf("to %q: %v, holds %t", next, err, a.Holds())
			}
		}
		cell.Cut("a", true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Release(ctx, ""); !errors.Is(err, context.DeadlineExceeded) || a.Holds() {
			t.Errorf("without the cell: %v, holds %t", err, a.Holds())
		}
		cell.Cut("a", false)
		if err := a.Release(t.Context(), ""); err != nil { // the first one goes on
			t.Error(err)
		}
		stop()
		if err := a.Release(t.Context(), ""); err != nil {
			t.Errorf("twice: %v", err)
		}
	})
}

// A node that hands over while another one has taken over is deposed.
func TestReleaseOfDeposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		a, _ := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		b, _ := start(t, cell, options("b"))
		cell.Cut("a", true)
		become(t, b, lease.Owner)
		cell.Cut("a", false)
		become(t, a, lease.Deposed)
		if err := a.Release(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "another node has taken over") {
			t.Error(err)
		}
	})
}

// A Holder that nobody runs any more holds nothing, and another one of the same node is another owner.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		a, stop := start(t, cell, options("a"))
		become(t, a, lease.Owner)
		if stop(); a.Holds() || a.Status().Holding {
			t.Errorf("holds %t, %+v", a.Holds(), a.Status())
		}
		began := time.Now()
		again, _ := start(t, cell, options("a"))
		if s := become(t, again, lease.Owner); s.Epoch != 2 || time.Since(began) != 4*time.Second {
			t.Errorf("after %s: %+v", time.Since(began), s)
		}
	})
}

func TestSetEligible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cell := memory.New(nil)
		o := options("a")
		o.Eligible = false
		a, _ := start(t, cell, o)
		time.Sleep(time.Minute)
		if s := a.Status(); s.State != lease.Standby {
			t.Errorf("%+v", s)
		}
		a.SetEligible(true)
		become(t, a, lease.Owner)
		a.SetEligible(false)
		time.Sleep(time.Minute)
		if !a.Holds() {
			t.Error("the owner has stopped")
		}
	})
}

func TestWaitEnds(t *testing.T) {
	cell := memory.New(nil)
	h, err := lease.New(cell.Of("a"), options("a"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := h.Wait(ctx, 0); err != nil || s.State != lease.Standby || s.Why != "started" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := h.Wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestHoldsAllocatesNothing(t *testing.T) {
	h, err := lease.New(memory.New(nil).Of("a"), options("a"))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { h.Holds() }); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkHolds(b *testing.B) {
	h, err := lease.New(memory.New(nil).Of("a"), options("a"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		h.Holds()
	}
}

// Three Holders, each with its goroutine, share a cell that fails now and then.
func TestHolders(t *testing.T) {
	t.Parallel()
	n := testutil.Histories(300)
	owners := 0
	for seed := range n {
		synctest.Test(t, func(t *testing.T) { owners += hold(t, seed+1) })
	}
	if owners < int(n)*5 {
		t.Errorf("only %d owners in %d histories", owners, n)
	}
}

// hold plays five minutes, and returns how many owners there were.
func hold(t *testing.T, seed uint64) (owners int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	var mu sync.Mutex
	chance := func(p float64) bool { return rng.Float64() < p }
	upTo := func(d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
	cell := memory.New(func(_ string, update bool) (f memory.Fault) {
		mu.Lock()
		defer mu.Unlock()
		f = memory.Fault{Request: upTo(5 * time.Millisecond), Answer: upTo(5 * time.Millisecond), Lost: chance(0.1), Silent: chance(0.1)}
		if chance(0.05) {
			f.Request = upTo(10 * time.Second)
		}
		if chance(0.05) {
			f.Answer = upTo(10 * time.Second)
		}
		if !update && chance(0.1) {
			f.Stale = rng.Uint64N(5)
		}
		return f
	})
	names := []string{"a", "b", "c"}
	holders, stops := make([]*lease.Holder, 3), make([]func(), 3)
	began := func(i int) { holders[i], stops[i] = start(t, cell, options(names[i])) }
	for i := range names {
		began(i)
	}
	epochs := map[uint64]string{}
	for range 30_000 {
		time.Sleep(10*time.Millisecond + time.Microsecond)
		mu.Lock()
		i, what := rng.IntN(3), rng.Float64()
		mu.Unlock()
		switch {
		case what < 0.0005:
			cell.Cut(names[i], true)
		case what < 0.002:
			cell.Cut(names[i], false)
		case what < 0.0025:
			stops[i]()
			began(i)
		case what < 0.003:
			ctx, cancel := context.WithTimeout(t.Context(), 1)
			_ = holders[i].Release(ctx, "")
			cancel()
		}
		holding := ""
		for i, h := range holders {
			if h.Holds() {
				if s := h.Status(); epochs[s.Epoch] == "" {
					epochs[s.Epoch] = fmt.Sprintf("%p", h)
				} else if epochs[s.Epoch] != fmt.Sprintf("%p", h) {
					t.Fatalf("seed %d: epoch %d has two owners", seed, s.Epoch)
				}
				if holding += names[i]; len(holding) > 1 {
					t.Fatalf("seed %d: nodes %s hold the lease together", seed, holding)
				}
			}
			if h.Status().State.Ended() {
				stops[i]()
				began(i)
			}
		}
	}
	for i := range stops {
		stops[i]()
	}
	time.Sleep(30 * time.Second) // for what is under way
	return len(epochs)
}
