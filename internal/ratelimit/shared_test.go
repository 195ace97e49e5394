package ratelimit

import (
	"sync"
	"sync/atomic"
	"testing"
)

// A Shared whose bound is not reached works as a Limiter.
func TestSharedIsLimiter(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{0, 1, 100, 1_000_000} {
		l := New(rate, 0)
		var s Shared
		s.SetRate(rate, 0)
		for i := range int64(2000) {
			now := start + i*i*1000
			if l.Wait(now) > second/2 {
				continue
			}
			want := l.Reserve(now)
			if got, ok := s.Admit(now); !ok || got != want {
				t.Fatalf("rate %d, message %d waits %d ns (%t), want %d", rate, i, got, ok, want)
			}
		}
	}
}

// A message that would have to wait for more than about a second is not
// admitted, and takes no place.
func TestSharedIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, waiting int }{{1, 10}, {5, 10}, {100, 100}, {50_000, 10_000}} {
		var s Shared
		s.SetRate(c.rate, 1)
		s.Admit(start)
		for i := range c.waiting {
			if _, ok := s.Admit(start); !ok {
				t.Fatalf("rate %d: message %d may not wait", c.rate, i)
			}
		}
		interval := int64(second / c.rate)
		for range 3 {
			if wait, ok := s.Admit(start); ok || wait != interval {
				t.Errorf("rate %d: one more waits %d ns (%t), want it refused for %d", c.rate, wait, ok, interval)
			}
		}
		if wait, ok := s.Admit(start + interval); !ok || wait != int64(c.waiting)*interval {
			t.Errorf("rate %d: after that time it waits %d ns (%t)", c.rate, wait, ok)
		}
	}
}

// However many goroutines call Admit, every place is taken once.
func TestSharedConcurrently(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 1000
	var s Shared
	s.SetRate(10_000, 1)
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				if _, ok := s.Admit(start); ok {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	wait, _ := s.Admit(start)
	if want := admitted.Load() * second / 10_000; wait != want || admitted.Load() != goroutines*each {
		t.Errorf("%d were admitted, and the next waits %d ns, want %d", admitted.Load(), wait, want)
	}
}

func BenchmarkAdmit(b *testing.B) {
	var s Shared
	s.SetRate(1000, 0)
	now := int64(start)
	for b.Loop() {
		wait, _ := s.Admit(now)
		now += wait
	}
}

// What is left of a rate is what could come without waiting.
func TestLeft(t *testing.T) {
	t.Parallel()
	var s Shared
	if n, whole := s.Left(start); n != 0 || whole != 0 {
		t.Error("without a rate:", n, whole)
	}
	s.SetRate(10, 5)
	for taken := range int64(7) {
		n, whole := s.Left(start)
		if want := max(5-taken, 0); n != want || whole != taken*second/10 {
			t.Errorf("%d are left after %d, want %d; all in %d", n, taken, want, whole)
		}
		s.Admit(start)
	}
}

// However many come together, those that come one by one find places: half of those that may wait.
func TestAdmitOfMany(t *testing.T) {
	t.Parallel()
	var s Shared
	s.SetRate(50, 1)
	count := func(admit func(int64) (int64, bool)) (n int) {
		for ; ; n++ {
			if _, ok := admit(0); !ok {
				return n
			}
		}
	}
	if n := count(s.AdmitOfMany); n != 26 {
		t.Errorf("%d of many were admitted", n)
	}
	if n := count(s.Admit); n != 25 {
		t.Errorf("%d others were admitted", n)
	}
}
