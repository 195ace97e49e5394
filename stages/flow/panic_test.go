package flow

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fault holds the arguments of a call of OnPanic.
type fault struct {
	stage string
	job   int // -1: none
	value any
}

// faults records the calls of OnPanic, and releases the job.
type faults struct {
	mu  sync.Mutex
	all []fault
}

func (f *faults) add(out *Out[job], stage string, j *job, value any, stack []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := -1
	if j != nil {
		n = j.n
		out.Release(j)
	}
	f.all = append(f.all, fault{stage, n, value})
}

func (f *faults) want(t *testing.T, want ...fault) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if fmt.Sprint(f.all) != fmt.Sprint(want) {
		t.Errorf("calls\n%v, want\n%v", f.all, want)
	}
}

// A panic of a stage costs only the job that it worked on, if the stage had not handed it
// on. The other jobs of the batch, and jobs that were sent, are not lost.
func TestPanic(t *testing.T) {
	var f faults
	var got []int
	gate := make(chan struct{})
	l := run(t, Options[job]{OnPanic: f.add}, work(func(out *Out[job], j *job) {
		<-gate // makes jobs gather into batches
		switch {
		case j.n%10 == 3:
			panic("before")
		case j.n%10 == 7:
			out.To(1, j)
			panic("after")
		}
		out.To(1, j)
	}), work(func(out *Out[job], j *job) {
		got = append(got, j.n)
		out.Release(j)
	}))
	for n := range 20 {
		l.inject(0, n)
	}
	close(gate)
	l.close(0)
	f.want(t, fault{"stage 0", 3, "before"}, fault{"stage 0", -1, "after"}, fault{"stage 0", 13, "before"}, fault{"stage 0", -1, "after"})
	if want := "[0 1 2 4 5 6 7 8 9 10 11 12 14 15 16 17 18 19]"; fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if n := l.Stats()[0].Panics; n != 4 {
		t.Errorf("%d panics counted, want 4", n)
	}
}

// Tick, Flush and Poll may panic too, and the stage continues.
func TestPanicOutsideWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f faults
		ticks, polls := 0, 0
		s := newSource(drop)
		s.poll = func(*Out[job]) {
			if polls++; polls == 1 {
				panic("poll")
			}
		}
		s.tick = func(out *Out[job]) time.Duration {
			if ticks++; ticks == 1 {
				out.TickIn(time.Second)
				panic("tick")
			}
			return 0
		}
		flushes := 0
		l := run(t, Options[job]{OnPanic: f.add}, s, &flushing{drop, func(*Out[job]) {
			if flushes++; flushes == 1 {
				panic("flush")
			}
		}})
		synctest.Wait()
		l.inject(1, 1)
		synctest.Wait()
		l.inject(1, 2)
		time.Sleep(2 * time.Second)
		l.close(0)
		f.want(t, fault{"stage 0", -1, "tick"}, fault{"stage 0", -1, "poll"}, fault{"stage 1", -1, "flush"})
		if ticks != 2 || flushes != 2 || polls < 2 {
			t.Errorf("%d ticks, %d flushes, %d polls after the panics", ticks-1, flushes-1, polls-1)
		}
	})
}

// OnPanic may panic as well.
func TestPanicInOnPanic(t *testing.T) {
	told := 0
	l := run(t, Options[job]{OnPanic: func(out *Out[job], _ string, j *job, _ any, _ []byte) {
		if told++; j != nil {
			out.Release(j)
		}
		panic("again")
	}}, work(func(*Out[job], *job) { panic("first") }))
	l.inject(0, 1)
	l.inject(0, 2)
	l.close(0)
	if told != 4 {
		t.Errorf("%d calls, want 4", told)
	}
	if n := l.Stats()[0].Panics; n != 4 {
		t.Errorf("%d panics counted, want 4", n)
	}
}

// A function outside the stages may panic. This costs its job.
func TestPanicInGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f faults
		var back atomic.Int64
		l := run(t, Options[job]{OnPanic: f.add}, work(func(out *Out[job], j *job) {
			out.Go(1, j, func() {
				if j.n == 2 {
					panic("waiting")
				}
			})
		}), work(func(out *Out[job], j *job) { back.Add(1); out.Release(j) }))
		for n := range 4 {
			l.inject(0, n)
		}
		synctest.Wait()
		l.close(0)
		f.want(t, fault{"stage 0", 2, "waiting"})
		if back.Load() != 3 {
			t.Errorf("%d jobs came back, want 3", back.Load())
		}
		if n := l.Stats()[0].Panics; n != 1 {
			t.Errorf("%d panics counted, want 1", n)
		}
	})
}
