//go:build pmgdebug

package flow

import (
	"strings"
	"testing"
)

// wantPanic runs f, which must panic with a text that contains what.
func wantPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s, _ := recover().(string); !strings.Contains(s, what) {
			t.Errorf("panic %q, want one with %q", s, what)
		}
	}()
	f()
}

// When a released job is used or released again, the debug build reports where it was
// released.
func TestDebugReleased(t *testing.T) {
	p := newPool()
	c := p.NewCache()
	j := c.Get()
	c.Release(j)
	wantPanic(t, "TestDebugReleased", func() { c.Release(j) })
	wantPanic(t, "TestDebugReleased", func() { j.Retain() })
	for range 10 * cacheLimit { // the job is not used again, so that a late use is found
		if c.Get() == j {
			t.Fatal("a released job is used again")
		}
	}
}

// The debug build finds a job that has no reference left, and an edge the table does not declare.
func TestDebugEdges(t *testing.T) {
	var f faults
	table := []Spec[any, job]{
		{Name: "a", To: []string{"b"}, New: func(any) (Stage[job], error) { return pass(2), nil }},
		{Name: "b", New: func(any) (Stage[job], error) { return work(drop), nil }},
		{Name: "c", New: func(any) (Stage[job], error) { return work(drop), nil }},
	}
	p, err := Start(table, nil, newPool(), Options[job]{OnPanic: f.add})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{p, t, p.pool, p.NewInlet()}
	l.inject(0, 1)
	l.close(0)
	f.want(t, fault{"a", 1, "flow: a hands a job to c, which the table does not declare"})
	wantPanic(t, "has no reference", func() { (&Ref{}).alive() })
}

// A job that a stage neither hands on nor releases is still alive at the end.
func TestDebugLeak(t *testing.T) {
	l := run(t, Options[job]{}, work(func(*Out[job], *job) {}))
	l.inject(0, 1)
	l.close(1)
}
