package flow

import (
	"math"
	"testing"
)

// Live is exact after the caches are drained, however jobs move between them.
func TestPoolLive(t *testing.T) {
	p := newPool()
	a, b := p.NewCache(), p.NewCache()
	var held []*job
	for n := range 1000 {
		j := a.Get()
		if j.from != 0 || j.n != 0 {
			t.Fatal("a job is not empty")
		}
		j.from, j.n = 1, n
		held = append(held, j)
	}
	for _, j := range held[100:] {
		b.Release(j)
	}
	if len(b.free) >= cacheLimit {
		t.Errorf("a cache keeps %d jobs, over its limit %d", len(b.free), cacheLimit)
	}
	a.Drain()
	b.Drain()
	if n := p.Live(); n != 100 {
		t.Errorf("%d jobs are alive, want 100", n)
	}
	for _, j := range held[:99] {
		a.Release(j)
	}
	a.forget()
	a.Drain()
	if n := p.Live(); n != 0 {
		t.Errorf("%d jobs are alive, want none", n)
	}
}

// A job returns to the pool with its last reference.
func TestRetain(t *testing.T) {
	p := newPool()
	c := p.NewCache()
	j := c.Get()
	j.n = 7
	j.Retain()
	j.Retain()
	c.Release(j)
	c.Release(j)
	if j.n != 7 {
		t.Error("a job with a reference was emptied")
	}
	c.Release(j)
	if j.n != 0 {
		t.Error("a job was not emptied")
	}
	c.Drain()
	if p.Live() != 0 {
		t.Errorf("%d jobs are alive", p.Live())
	}
}

// The pool's lock is taken once for many jobs, whether a stage only gets jobs, only releases
// them, or does both.
func TestPoolLocks(t *testing.T) {
	p := newPool()
	makes, ends := p.NewCache(), p.NewCache()
	for range 100 * cacheRefill {
		ends.Release(makes.Get())
	}
	if n := p.Locks(); n > 200 {
		t.Errorf("%d locks for %d jobs", n, 100*cacheRefill)
	}
	before := p.Locks()
	for range 1000 {
		makes.Release(makes.Get())
	}
	if n := p.Locks() - before; n > 1 {
		t.Errorf("%d locks, but all jobs stayed within the cache", n)
	}
}

func TestSpread(t *testing.T) {
	var all, half, rest, none Spread
	for i, ns := range []int64{4, 2, 9, 5} {
		all.Add(ns)
		if i%2 == 0 {
			half.Add(ns)
		} else {
			rest.Add(ns)
		}
	}
	half.Merge(rest)
	half.Merge(none)
	if half != all || all.Min != 2 || all.Max != 9 || all.Count != 4 || all.Mean() != 5 {
		t.Errorf("%+v, merged %+v", all, half)
	}
	if d := all.StdDev(); math.Abs(d-math.Sqrt(6.5)) > 1e-9 {
		t.Errorf("standard deviation %g", d)
	}
	none.Merge(all)
	if none != all {
		t.Errorf("%+v merged into nothing is %+v", all, none)
	}
	if (Spread{}).Mean() != 0 || (Spread{}).StdDev() != 0 {
		t.Error("nothing has a mean")
	}
}
