package answers

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pmg/sms"
)

const second = int64(time.Second)

func TestKeyOf(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]uint64{"4670000": 4670000, "123456789012345": 123456789012345} {
		if key, ok := KeyOf([]byte(digits)); !ok || key != want {
			t.Errorf("%s: %d, %t", digits, key, ok)
		}
	}
	for _, digits := range []string{"", "467000", "0467000000", "1234567890123456", "46a0000000"} {
		if key, ok := KeyOf([]byte(digits)); ok {
			t.Errorf("%s: %d", digits, key)
		}
	}
}

// An answer is kept for as long as it says, and for as long as the hook says at most.
func TestLife(t *testing.T) {
	t.Parallel()
	a := New(100, time.Minute)
	for key, keep := range map[uint64]time.Duration{1: 0, 2: 10 * time.Second, 3: time.Hour} {
		if got := a.Ask(key, 0, func() Answer { return Answer{Network: 24001, Keep: keep} }); got.Network != 24001 {
			t.Errorf("%d: %+v", key, got)
		}
	}
	for _, c := range []struct {
		key   uint64
		at    int64
		known bool
	}{{1, 59, true}, {1, 60, false}, {2, 9, true}, {2, 10, false}, {3, 59, true}, {3, 60, false}, {4, 0, false}} {
		if got, ok := a.Known(c.key, c.at*second); ok != c.known || ok && got.Network != 24001 {
			t.Errorf("%+v: %+v, %t", c, got, ok)
		}
	}
	if f := a.Figures(); f != (Figures{Known: 3, Asked: 3, Kept: 3}) {
		t.Errorf("%+v", f)
	}
}

// The number of answers is bounded; what is asked for often stays.
func TestMany(t *testing.T) {
	t.Parallel()
	a := New(100, time.Hour)
	for key := uint64(1); key <= 1000; key++ {
		if _, ok := a.Known(1, 0); key > 1 && !ok {
			t.Fatalf("the answer of every day is gone at %d", key)
		}
		a.Ask(key, 0, func() Answer { return Answer{} })
		if f := a.Figures(); f.Kept > 100 {
			t.Fatalf("%d are kept", f.Kept)
		}
	}
	if _, ok := a.Known(2, 0); ok {
		t.Error("one that nobody asked for is kept")
	}
}

// What nobody has answered is not kept, and those who ask at the same time share one question.
func TestTogether(t *testing.T) {
	t.Parallel()
	a, begun, end := New(100, time.Hour), make(chan struct{}), make(chan struct{})
	var together sync.WaitGroup
	failure := errors.New("nobody there")
	together.Go(func() {
		a.Ask(7, 0, func() Answer { close(begun); <-end; return Answer{Code: sms.TemporaryFailure, Failure: failure} })
	})
	<-begun
	got := make(chan Answer, 10)
	for range cap(got) {
		together.Go(func() { got <- a.Ask(7, 0, func() Answer { return Answer{} }) })
	}
	for waits := 0; waits < cap(got); { // they wait, or have not begun to
		waits++
		if _, ok := a.Known(7, 0); ok {
			t.Error("an answer is known before it came")
		}
	}
	close(end)
	together.Wait()
	if _, ok := a.Known(7, 0); ok && a.Figures().Asked == 1 {
		t.Error("a failure is kept")
	}
	shared := 0
	for range cap(got) {
		if answer := <-got; answer.Failure != nil {
			shared++
		}
	}
	if asked := a.Figures().Asked; shared == 0 && asked < 2 {
		t.Errorf("%d shared the failure, %d were asked", shared, asked)
	}
}

// What is kept costs no allocation to find.
func TestAllocations(t *testing.T) {
	a := New(100, time.Hour)
	a.Ask(7, 0, func() Answer { return Answer{Network: 24001} })
	if n := testing.AllocsPerRun(100, func() { a.Known(7, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
