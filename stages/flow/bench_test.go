package flow

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// BenchmarkHandover measures the cost of handing a job to the next stage, by the size of
// batches, for lines of 1 and 10 stages. inline means on the producer's goroutine.
func BenchmarkHandover(b *testing.B) {
	for _, stages := range []int{1, 10} {
		for _, batch := range []int{1, 10, 100} {
			for _, inline := range []bool{true, false} {
				b.Run(fmt.Sprintf("stages=%d/batch=%d/inline=%t", stages, batch, inline), func(b *testing.B) {
					benchHandover(b, stages, batch, inline)
				})
			}
		}
	}
}

func benchHandover(b *testing.B, stages, batch int, inline bool) {
	o := Options[job]{Inline: -1}
	if inline {
		o.Inline = 0
	}
	var arrived atomic.Int64
	over := make(chan struct{}, 1)
	// The first stage makes a batch of each job. The last stage signals when it has the whole
	// batch.
	table := []Stage[job]{work(func(out *Out[job], j *job) {
		for range batch - 1 {
			out.To(1, out.Get())
		}
		out.To(1, j)
	})}
	for i := 1; i < stages; i++ {
		table = append(table, pass(i+1))
	}
	table = append(table, work(func(out *Out[job], j *job) {
		out.Release(j)
		if arrived.Add(1)%int64(batch) == 0 {
			over <- struct{}{}
		}
	}))
	l := run(b, o, table...)
	defer l.close(0)
	b.ReportAllocs()
	rounds := 0
	for b.Loop() {
		l.inject(0, 1)
		<-over
		rounds++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*batch*stages), "ns/handover")
}

// BenchmarkPool measures getting and releasing a job, in one stage and from one to another.
func BenchmarkPool(b *testing.B) {
	p := newPool()
	from, to := p.NewCache(), p.NewCache()
	for name, c := range map[string]*Cache[job]{"same": &from, "other": &to} {
		b.Run("to="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Release(from.Get())
			}
		})
	}
}
