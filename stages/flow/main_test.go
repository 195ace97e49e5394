package flow

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// TestMain fails when a test leaves goroutines behind.
func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// A job is the job of the tests' stages.
type job struct {
	Ref
	from, n int
	hops    int
}

func newPool() *Pool[job] {
	reset := func(j *job) { j.from, j.n, j.hops = 0, 0, 0 }
	return NewPool(func() *job { return &job{} }, reset, func(j *job) *Ref { return &j.Ref })
}

// work is a stage that is a function.
type work func(*Out[job], *job)

func (w work) Work(out *Out[job], j *job) { w(out, j) }

// drop is the stage at which jobs end.
func drop(out *Out[job], j *job) { out.Release(j) }

// pass hands every job to a row.
func pass(to int) work { return func(out *Out[job], j *job) { out.To(to, j) } }

type flushing struct {
	work
	flush func(*Out[job])
}

func (f *flushing) Flush(out *Out[job]) { f.flush(out) }

type yielding struct{ work }

// A waiting stage may have that many waits.
type waiting struct {
	work
	waits int
}

type ticking struct {
	work
	tick func(*Out[job]) time.Duration
}

func (f *ticking) Tick(out *Out[job]) time.Duration { return f.tick(out) }

// A source waits on a channel. It implements all interfaces of a stage.
type source struct {
	work
	poll func(*Out[job])
	tick func(*Out[job]) time.Duration
	wake chan struct{}
	err  error // returned by Wait
}

func newSource(w work) *source {
	return &source{
		work: w, wake: make(chan struct{}, 1),
		poll: func(*Out[job]) {}, tick: func(*Out[job]) time.Duration { return 0 },
	}
}

func (s *source) Poll(out *Out[job])               { s.poll(out) }
func (s *source) Tick(out *Out[job]) time.Duration { return s.tick(out) }

func (s *source) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *source) Wait(until time.Time) error {
	if until.IsZero() {
		<-s.wake
		return s.err
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-s.wake:
	case <-t.C:
	}
	return s.err
}

// A line is a running table of the tests' stages.
type line struct {
	*Pipeline[job]
	t     testing.TB
	pool  *Pool[job]
	inlet *Inlet[job]
}

// run starts stages, each of which may hand jobs to all others.
func run(t testing.TB, o Options[job], stages ...Stage[job]) *line {
	t.Helper()
	names := make([]string, len(stages))
	for i := range stages {
		names[i] = fmt.Sprint("stage ", i)
	}
	table := make([]Spec[any, job], len(stages))
	for i, s := range stages {
		_, yields := s.(yielding)
		w, _ := s.(waiting)
		table[i] = Spec[any, job]{Name: names[i], To: names, Yields: yields, Waits: w.waits, New: func(any) (Stage[job], error) { return s, nil }}
	}
	pool := newPool()
	p, err := Start(table, nil, pool, o)
	if err != nil {
		t.Fatal(err)
	}
	return &line{p, t, pool, p.NewInlet()}
}

// inject hands a new job to a row.
func (l *line) inject(row, n int) {
	j := l.inlet.Get()
	j.n = n
	l.inlet.Send(row, j)
}

// close ends the pipeline. lost is how many jobs panics have cost.
func (l *line) close(lost int64) {
	l.t.Helper()
	l.inlet.Close()
	if err := l.Close(); err != nil {
		l.t.Error(err)
	}
	if n := l.pool.Live(); n != lost {
		l.t.Errorf("%d jobs are left, want %d", n, lost)
	}
}

// A turnstile detects two goroutines in one stage.
type turnstile struct{ taken atomic.Bool }

func (s *turnstile) enter(t testing.TB) {
	if s.taken.Swap(true) {
		t.Error("two goroutines are in one stage")
	}
}

func (s *turnstile) leave() { s.taken.Store(false) }
