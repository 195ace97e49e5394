package flow

import "sync"

// An Inlet is a way into the pipeline for goroutines that are no stage's: each subsystem
// outside the stages has one of its own. Any goroutine may call its methods.
type Inlet[J any] struct {
	p *Pipeline[J]

	mu     sync.Mutex
	cache  Cache[J]
	closed bool
}

// NewInlet returns an inlet. The caller closes it before the pipeline.
func (p *Pipeline[J]) NewInlet() *Inlet[J] {
	return &Inlet[J]{p: p, cache: p.pool.NewCache()}
}

// Get returns an empty job, which the caller passes to Send.
func (i *Inlet[J]) Get() *J {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cache.Get()
}

// Send hands jobs to the row with that index in the table, and reports true. After
// Close it releases them instead, because no stage would work on them.
func (i *Inlet[J]) Send(row int, jobs ...*J) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.p.insert(row, jobs...)
		return true
	}
	for _, j := range jobs {
		i.cache.Release(j)
	}
	i.cache.Drain()
	return false
}

// Close returns the inlet's free jobs to the pool. What was sent before is worked on;
// what is sent later is not.
func (i *Inlet[J]) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.cache.Drain()
}
