package flow

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// In a table in which every stage hands jobs to all others, waits, ticks, panics and polls,
// no job is lost, duplicated or left, and no two goroutines work on one stage.
func TestStress(t *testing.T) {
	const rows, producers, each = 6, 3, 2000
	var done, lost atomic.Int64
	var doors [rows]turnstile
	stage := func(i int) work {
		return func(out *Out[job], j *job) {
			doors[i].enter(t)
			defer doors[i].leave()
			to := rand.IntN(rows)
			switch j.hops++; {
			case j.hops > 8:
				done.Add(1)
				out.Release(j)
			case rand.IntN(100) == 0:
				out.Go(to, j, func() {
					if rand.IntN(4) == 0 {
						panic("stress")
					}
				})
			case rand.IntN(200) == 0:
				if rand.IntN(2) == 0 {
					out.To(to, j)
				}
				panic("stress")
			case rand.IntN(20) == 0:
				j.Retain() // it is sent two ways, and ends when it has arrived twice
				out.Release(j)
				fallthrough
			default:
				out.TickIn(time.Duration(rand.IntN(1000)) * time.Microsecond)
				out.To(to, j)
			}
		}
	}
	tick := func(i int) func(*Out[job]) time.Duration {
		return func(out *Out[job]) time.Duration {
			doors[i].enter(t)
			defer doors[i].leave()
			out.Release(out.Get())
			return time.Millisecond
		}
	}
	src := newSource(stage(0))
	src.poll = func(out *Out[job]) { out.Release(out.Get()) }
	stages := []Stage[job]{src}
	for i := 1; i < rows; i++ {
		stages = append(stages, &ticking{stage(i), tick(i)})
	}
	o := Options[job]{Inline: 5, OnPanic: func(out *Out[job], _ string, j *job, _ any, _ []byte) {
		if j != nil {
			lost.Add(1)
			out.Release(j)
		}
	}}
	l := run(t, o, stages...)
	var wg sync.WaitGroup
	for range producers {
		wg.Go(func() {
			in := l.NewInlet()
			defer in.Close()
			for n := range each {
				in.Send(n%rows, in.Get())
			}
		})
	}
	wg.Wait()
	l.close(0)
	if done.Load()+lost.Load() != producers*each {
		t.Errorf("%d done and %d lost of %d jobs", done.Load(), lost.Load(), producers*each)
	}
}
