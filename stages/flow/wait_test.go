package flow

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// At most Spec.Waits functions of a row run together, and the others after them.
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

// What a function waits for may be a job that no stage has taken when the pipeline ends.
func TestWaitsForJobAtEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		came := make(chan struct{})
		stage := work(func(out *Out[job], j *job) {
			if j.n == 1 {
				close(came)
			}
			out.Release(j)
		})
		pool := newPool()
		p, err := build([]Spec[any, job]{{Name: "stage", New: func(any) (Stage[job], error) { return stage, nil }}}, nil, pool, Options[job]{}) // no goroutine works on it any more
		if err != nil {
			t.Fatal(err)
		}
		l := &line{p, t, pool, p.NewInlet()}
		waits := l.inlet.Get()
		p.rows[0].waits.add(wait[job]{row: p.rows[0], job: waits, f: func() { <-came }})
		l.inject(0, 1)
		l.close(0)
	})
}

// S6: functions of one row do not hold up those of another.
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
