package flow

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Any number of goroutines may share an inlet. Jobs that are sent before Close are worked on.
func TestInlet(t *testing.T) {
	t.Parallel()
	const senders, each = 4, 1000
	var worked, sum atomic.Int64
	l := run(t, Options[job]{}, pass(1), work(func(out *Out[job], j *job) {
		worked.Add(1)
		sum.Add(int64(j.n))
		out.Release(j)
	}))
	in := l.NewInlet()
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for n := range each {
				one, two := in.Get(), in.Get()
				one.n, two.n = n, n
				in.Send(n%2, one, two)
			}
		})
	}
	wg.Wait()
	in.Close()
	l.close(0)
	if worked.Load() != 2*senders*each || sum.Load() != senders*each*(each-1) {
		t.Errorf("%d jobs worked on, their sum is %d", worked.Load(), sum.Load())
	}
}

// A job that is sent after Close returns to the pool, during the pipeline's Close and after
// it.
func TestInletClosed(t *testing.T) {
	t.Parallel()
	l := run(t, Options[job]{}, work(func(out *Out[job], j *job) {
		t.Error("a job arrived that was sent after Close")
		out.Release(j)
	}))
	in := l.NewInlet()
	early := in.Get()
	in.Close()
	if in.Send(0, early) {
		t.Error("a closed inlet reports that it has sent a job")
	}
	late := in.Get()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	in.Send(0, late, in.Get())
	l.inlet.Close()
	if n := l.pool.Live(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}
