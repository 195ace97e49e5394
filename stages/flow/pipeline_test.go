package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The jobs of each producer arrive in order, with one goroutine at a time in each stage,
// whatever Inline is.
func TestOrder(t *testing.T) {
	for _, inline := range []int{-1, 0, 3} {
		t.Run(fmt.Sprintf("inline=%d", inline), func(t *testing.T) {
			const producers, each = 4, 5000
			var doors [3]turnstile
			var last [producers]int
			arrived := 0
			stage := func(i int, then work) work {
				return func(out *Out[job], j *job) {
					doors[i].enter(t)
					then(out, j)
					doors[i].leave()
				}
			}
			l := run(t, Options[job]{Inline: inline}, stage(0, pass(1)), stage(1, pass(2)), stage(2, func(out *Out[job], j *job) {
				if j.n != last[j.from]+1 {
					t.Errorf("producer %d: job %d comes after %d", j.from, j.n, last[j.from])
				}
				last[j.from] = j.n
				arrived++
				out.Release(j)
			}))
			var wg sync.WaitGroup
			for from := range producers {
				wg.Go(func() {
					in := l.NewInlet()
					defer in.Close()
					for n := range each {
						j := in.Get()
						j.from, j.n = from, n+1
						in.Send(0, j)
					}
				})
			}
			wg.Wait()
			l.close(0)
			if arrived != producers*each {
				t.Errorf("%d jobs arrived, want %d", arrived, producers*each)
			}
			for _, s := range l.Stats() {
				if s.In != producers*each || s.Work.Count != s.Batches || s.MaxBatch < 1 || s.Depth != 0 {
					t.Errorf("%+v", s)
				}
			}
			if s := l.Stats(); s[0].Out != s[1].In || s[1].Out != s[2].In || s[2].Out != 0 {
				t.Errorf("sums differ: %+v", s)
			}
		})
	}
}

// A goroutine works on its last row first, and on one that yields when nothing else is left.
func TestYields(t *testing.T) {
	for _, c := range []struct {
		yields bool
		want   string
	}{{false, "3 1 2 "}, {true, "1 2 3 "}} {
		order := ""
		note := func(name string, then work) work {
			return func(out *Out[job], j *job) {
				order += name + " "
				then(out, j)
			}
		}
		last := Stage[job](note("3", drop))
		if c.yields {
			last = yielding{note("3", drop)}
		}
		l := run(t, Options[job]{}, work(func(out *Out[job], j *job) {
			out.To(3, j)
			out.To(1, out.Get())
		}), note("1", pass(2)), note("2", drop), last)
		l.inject(0, 0)
		l.close(0)
		if order != c.want {
			t.Errorf("yields %v: order %q, want %q", c.yields, order, c.want)
		}
	}
}

// Jobs that a stage hands to itself, and jobs in a cycle, are not lost.
func TestCycle(t *testing.T) {
	const jobs, hops = 300, 30
	var done atomic.Int64
	next := func(to int) work {
		return func(out *Out[job], j *job) {
			if j.hops++; j.hops == hops {
				done.Add(1)
				out.Release(j)
				return
			}
			out.To([]int{to, (to + j.n) % 3}[j.hops%2], j)
		}
	}
	l := run(t, Options[job]{}, next(1), next(2), next(0))
	for n := range jobs {
		l.inject(n%3, n)
	}
	l.close(0)
	if done.Load() != jobs {
		t.Errorf("%d of %d jobs came to their end", done.Load(), jobs)
	}
}

// A stage is flushed once after each batch.
func TestFlush(t *testing.T) {
	var batches, flushes int
	fresh := true
	l := run(t, Options[job]{}, &flushing{func(out *Out[job], j *job) {
		if fresh {
			batches++
		}
		fresh = false
		out.Release(j)
	}, func(*Out[job]) {
		if fresh {
			t.Error("flushed without a batch")
		}
		fresh = true
		flushes++
	}})
	for n := range 1000 {
		l.inject(0, n)
	}
	l.close(0)
	if batches != flushes || batches == 0 {
		t.Errorf("%d batches, %d flushes", batches, flushes)
	}
}

// Tick is called once at the start, and then when it or TickIn has asked for it.
func TestTick(t *testing.T) {
	for _, kind := range []string{"stage", "source"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var ticks []time.Duration
				answers := []time.Duration{time.Second, 3 * time.Second, 0, 0, time.Minute}
				tick := func(out *Out[job]) time.Duration {
					if out.Now() != time.Now().UnixNano() {
						t.Errorf("the stage's clock is %d off", out.Now()-time.Now().UnixNano())
					}
					ticks = append(ticks, time.Since(begin))
					if len(ticks) == 3 { // asking for a later tick does not delay an earlier one
						out.TickIn(2 * time.Second)
						out.TickIn(9 * time.Second)
					}
					return answers[len(ticks)-1]
				}
				ask := func(out *Out[job], j *job) {
					out.TickIn(time.Duration(j.n) * time.Second)
					out.Release(j)
				}
				var stage Stage[job] = &ticking{ask, tick}
				if kind == "source" {
					s := newSource(ask)
					s.tick = tick
					stage = s
				}
				l := run(t, Options[job]{}, stage)
				time.Sleep(100 * time.Second)
				synctest.Wait()
				l.inject(0, 7)
				l.inject(0, 5)
				time.Sleep(20 * time.Second)
				l.close(0)
				want := []time.Duration{0, 1, 4, 6, 105}
				for i := range want {
					want[i] *= time.Second
				}
				if !slices.Equal(ticks, want) {
					t.Errorf("ticks at %v, want %v", ticks, want)
				}
			})
		})
	}
}

// After a Tick that returns 0 there is no other, unless TickIn asks for it. Tick is called
// with and without jobs, and never by two goroutines.
func TestTickUnderLoad(t *testing.T) {
	var door turnstile
	var ticks atomic.Int64
	busy := &ticking{tick: func(*Out[job]) time.Duration {
		door.enter(t)
		defer door.leave()
		ticks.Add(1)
		return time.Nanosecond
	}, work: func(out *Out[job], j *job) {
		door.enter(t)
		defer door.leave()
		out.Release(j)
	}}
	l := run(t, Options[job]{}, pass(1), busy)
	for n := 0; n < 20000 || ticks.Load() < 10; n++ {
		l.inject(0, n)
		if n >= 20000 {
			time.Sleep(time.Millisecond) // otherwise few large batches would form
		}
	}
	l.close(0)
}

// Only a source's own goroutine works on its jobs, and a wake-up that comes before its Wait
// is not lost.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var door turnstile
		worked, polled := 0, 0
		s := newSource(func(out *Out[job], j *job) {
			door.enter(t)
			worked++
			out.To(1, j)
			door.leave()
		})
		s.poll = func(out *Out[job]) {
			door.enter(t)
			if polled++; polled%2 == 0 {
				out.To(1, out.Get())
			}
			door.leave()
		}
		var dropped atomic.Int64
		l := run(t, Options[job]{}, s, work(func(out *Out[job], j *job) { dropped.Add(1); out.Release(j) }))
		for n := range 100 {
			l.inject(0, n)
			if n%10 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		if worked != 100 {
			t.Errorf("%d of 100 jobs were worked on", worked)
		}
		l.close(0)
		if want := int64(worked + polled/2); dropped.Load() != want {
			t.Errorf("%d jobs came out of the source, want %d", dropped.Load(), want)
		}
	})
}

// A goroutine that works on other stages still comes to its own stage: to a source's Poll,
// and to Tick.
func TestNoStageStarves(t *testing.T) {
	const tooLong = 1 << 20
	t.Run("source", func(t *testing.T) {
		var polls atomic.Int64
		s := newSource(drop)
		s.poll = func(out *Out[job]) {
			if polls.Add(1) == 1 {
				out.To(1, out.Get())
			}
		}
		s.tick = func(*Out[job]) time.Duration { return time.Nanosecond } // never waits
		l := run(t, Options[job]{}, s, work(func(out *Out[job], j *job) {
			if j.hops++; polls.Load() > 1 || j.hops == tooLong {
				if j.hops == tooLong {
					t.Error("the source does not poll while another stage has work")
				}
				out.Release(j)
				return
			}
			out.To(1, j)
		}))
		for polls.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		l.close(0)
	})
	t.Run("ticker", func(t *testing.T) {
		var ticks atomic.Int64
		over := make(chan struct{})
		first := &ticking{pass(1), func(*Out[job]) time.Duration { ticks.Add(1); return time.Microsecond }}
		l := run(t, Options[job]{}, first, work(func(out *Out[job], j *job) {
			if j.n == 0 {
				j.n = int(ticks.Load()) + 100
			}
			if j.hops++; int(ticks.Load()) >= j.n || j.hops == 100*tooLong {
				if j.hops == 100*tooLong {
					t.Error("the stage does not tick while another has work")
				}
				out.Release(j)
				close(over)
				return
			}
			out.To(1, j)
		}))
		l.inject(0, 0)
		<-over
		l.close(0)
	})
}

// Close works on all jobs in the inboxes, on the jobs that follow from them, and on those
// of functions that still run outside the stages.
func TestCloseRunsDry(t *testing.T) {
	gate := make(chan struct{})
	var done atomic.Int64
	slow := func(out *Out[job], j *job) {
		<-gate
		out.To(1, j)
	}
	l := run(t, Options[job]{}, work(slow), work(func(out *Out[job], j *job) {
		if j.n%10 == 0 {
			j.n++
			out.Go(1, j, func() { time.Sleep(time.Millisecond) })
			return
		}
		done.Add(1)
		out.Release(j)
	}))
	for n := range 1000 {
		l.inject(0, n)
	}
	go func() { time.Sleep(time.Millisecond); close(gate) }()
	l.close(0)
	if done.Load() != 1000 {
		t.Errorf("%d of 1000 jobs were worked on", done.Load())
	}
	var in int64
	for _, s := range l.Stats() {
		in += s.In
	}
	if in != 2100 {
		t.Errorf("stages counted %d jobs, want 2100", in)
	}
}

type closing struct {
	work
	err    error
	closed *[]string
}

func (c *closing) Close() error {
	*c.closed = append(*c.closed, fmt.Sprint(c.err))
	return c.err
}

// All stages are closed, in order, and Close returns the first error.
func TestCloseStages(t *testing.T) {
	var closed []string
	l := run(t, Options[job]{}, &closing{drop, nil, &closed}, &closing{drop, errors.New("one"), &closed}, &closing{drop, errors.New("two"), &closed})
	if err := l.Close(); err == nil || err.Error() != "cannot close stage stage 1: one" {
		t.Error(err)
	}
	if got := strings.Join(closed, " "); got != "<nil> one two" {
		t.Error("closed", got)
	}
}

// If a stage cannot be made, the stages before it are closed.
func TestStartFails(t *testing.T) {
	var closed []string
	table := []Spec[any, job]{
		{Name: "a", New: func(any) (Stage[job], error) { return &closing{drop, nil, &closed}, nil }},
		{Name: "b", New: func(any) (Stage[job], error) { return nil, errors.New("no") }},
	}
	if _, err := Start(table, nil, newPool(), Options[job]{}); err == nil || err.Error() != "cannot start stage b: no" {
		t.Error(err)
	}
	if len(closed) != 1 {
		t.Errorf("%d stages closed, want 1", len(closed))
	}
}

// S11: a table with wrong names, or with more rows than a mask has bits, does not start, and
// none of its stages is made.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	spec := func(name string, to, ends []string) Spec[any, job] {
		return Spec[any, job]{Name: name, To: to, Ends: ends, New: func(any) (Stage[job], error) {
			t.Error("a stage was made")
			return work(drop), nil
		}}
	}
	var many []Spec[any, job]
	for i := range 33 {
		many = append(many, spec(fmt.Sprint(i), nil, nil))
	}
	for want, table := range map[string][]Spec[any, job]{
		`cannot start stage a: it hands jobs to "c", which is not in the table`:   {spec("a", []string{"b", "c"}, nil), spec("b", nil, nil)},
		`cannot start stage b: it hands jobs to "d", which is not in the table`:   {spec("a", nil, nil), spec("b", nil, []string{"d"})},
		`cannot start pipeline: rows 0 and 2 of the table have the same name "a"`: {spec("a", nil, nil), spec("b", nil, nil), spec("a", nil, nil)},
		`cannot start pipeline: the table has 33 stages, at most 32 are possible`: many,
	} {
		if _, err := Start(table, nil, newPool(), Options[job]{}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// F8: a source's waits end by the monotonic clock. After the wall clock has been changed by
// an hour since the start, the pipeline's clock differs from it by an hour.
func TestSourceClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ticks, waits := 0, 0
			s := newSource(drop)
			s.tick = func(*Out[job]) time.Duration { ticks++; return time.Minute }
			s.poll = func(*Out[job]) {
				if waits++; waits > 100 {
					time.Sleep(time.Second) // with a spinning source the test's time would not pass
				}
			}
			table := []Spec[any, job]{{Name: "a", New: func(any) (Stage[job], error) { return s, nil }}}
			p, err := build(table, nil, newPool(), Options[job]{})
			if err != nil {
				t.Fatal(err)
			}
			p.startNS += int64(off)
			p.run()
			time.Sleep(10*time.Minute + time.Second)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if ticks != 11 || waits > 2*ticks+1 {
				t.Errorf("%v off: %d ticks in 10 minutes, want 11; %d waits", off, ticks, waits)
			}
		})
	}
}

// F21: a source whose Wait fails makes the pipeline fail, once and without spinning. The
// other stages continue, and Close works on all remaining jobs.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var polls, worked atomic.Int64
		s := newSource(drop)
		s.poll = func(*Out[job]) { polls.Add(1) }
		s.err = errors.New("broken")
		count := work(func(out *Out[job], j *job) { worked.Add(1); out.Release(j) })
		l := run(t, Options[job]{}, s, count)
		synctest.Wait()
		select {
		case err := <-l.Failed():
			t.Errorf("failed before the first Wait is over: %v", err)
		default:
		}
		s.Wake()
		if err := <-l.Failed(); err == nil || err.Error() != "cannot continue stage stage 0: broken" {
			t.Error(err)
		}
		before := polls.Load()
		l.inject(0, 1)
		l.inject(1, 1)
		synctest.Wait()
		if polls.Load() != before || worked.Load() != 1 {
			t.Errorf("%d polls after the failure; %d jobs worked on by the other stage, want 1", polls.Load()-before, worked.Load())
		}
		l.close(0)
	})
}
