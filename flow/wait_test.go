package flow

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// As many functions of a row run together as its Spec says, the others after them.
func TestWaitsBound(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int64{0: 16, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			jobs := int(5 * want)
			var now, most, back atomic.Int64
			l := run(t, Options[job]{}, waiting{func(out *Out[job], j *job) {
				if j.hops++; j.hops == 2 {
					back.Add(1)
					out.Release(j)
					return
				}
				out.Go(0, j, func() {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Second)
					now.Add(-1)
				})
			}, limit})
			begin := time.Now()
			for n := range jobs {
				l.inject(0, n)
			}
			l.close(0)
			if most.Load() != want || back.Load() != int64(jobs) || time.Since(begin) != 5*time.Second {
				t.Errorf("Waits %d: %d of %d waits done, at most %d together, in %v", limit, back.Load(), jobs, most.Load(), time.Since(begin))
			}
		})
	}
}

// S6: waits of one row do not hold up those of another.
func TestWaitsByRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var slow, fast atomic.Int64
		l := run(t, Options[job]{},
			waiting{func(out *Out[job], j *job) { out.Go(2, j, func() { <-gate; slow.Add(1) }) }, 2},
			work(func(out *Out[job], j *job) { out.Go(2, j, func() { fast.Add(1) }) }),
			work(drop))
		for n := range 100 {
			l.inject(0, n)
		}
		for n := range 100 {
			l.inject(1, n)
		}
		synctest.Wait()
		if slow.Load() != 0 || fast.Load() != 100 {
			t.Errorf("%d waits of the first row and %d of the second are over, want 0 and 100", slow.Load(), fast.Load())
		}
		close(gate)
		l.close(0)
		if slow.Load() != 100 {
			t.Errorf("%d waits of the first row are over, want 100", slow.Load())
		}
	})
}

// S6: a wait that has not begun can be cancelled: its job comes back immediately, and
// its function does not run. One that has begun ends as usual.
func TestWaitCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const jobs = 4
		gate := make(chan struct{})
		ran, came := make([]bool, jobs), ""
		waits := make([]*Wait[job], jobs)
		l := run(t, Options[job]{}, waiting{func(out *Out[job], j *job) {
			n := j.n
			if j.hops++; j.hops == 1 {
				waits[n] = out.Go(0, j, func() { <-gate; ran[n] = true })
				return
			}
			came += fmt.Sprint(n, waits[n].Cancelled(), " ")
			out.Release(j)
		}, 1})
		for n := range jobs {
			l.inject(0, n)
		}
		synctest.Wait()
		for n, want := range []bool{false, true, true} { // the last keeps its place in the queue
			if waits[n].Cancel() != want {
				t.Errorf("Cancel of wait %d returns %v, want %v", n, !want, want)
			}
		}
		synctest.Wait()
		if want := "1 true 2 true "; came != want {
			t.Errorf("back before the first wait is over: %q, want %q", came, want)
		}
		close(gate)
		synctest.Wait()
		if want := "1 true 2 true 0 false 3 false "; came != want {
			t.Errorf("back in the end: %q, want %q", came, want)
		}
		if want := []bool{true, false, false, true}; fmt.Sprint(ran) != fmt.Sprint(want) {
			t.Errorf("functions that ran: %v, want %v", ran, want)
		}
		if waits[1].Cancel() || waits[3].Cancel() {
			t.Error("a wait that is over is cancelled")
		}
		l.close(0)
	})
}

// A wait that is cancelled while the pipeline ends does not keep it from ending.
func TestWaitCancelAtEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var last *Wait[job]
		l := run(t, Options[job]{}, waiting{func(out *Out[job], j *job) { last = out.Go(1, j, func() { <-gate }) }, 1}, work(drop))
		l.inject(0, 0)
		l.inject(0, 1)
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			if !last.Cancel() {
				t.Error("the wait is not cancelled")
			}
			close(gate)
		}()
		l.close(0)
	})
}
