package flow

import "sync"

// An Inlet is a way into the pipeline for goroutines that do not belong to a stage. Each
// subsystem outside the stages has its own. Any goroutine may call its methods.
type Inlet[J any] struct {
	p *Pipeline[J]

	mu     sync.Mutex
	cache  Cache[J]
	closed bool
}

// NewInlet returns an inlet. The caller must close it before the pipeline.
func (p *Pipeline[J]) NewInlet() *Inlet[J] {
	return &Inlet[J]{p: p, cache: p.pool.NewCache()}
}

// Get returns an empty job. The caller must pass it to Send.
func (i *Inlet[J]) Get() *J {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cache.Get()
}

// Send passes jobs to the row with this index in the table, that of the first group if it is not shared,
// and returns true. After Close it releases the jobs and returns false, because no stage would work on them.
func (i *Inlet[J]) Send(row int, jobs ...*J) bool { return i.SendTo(0, row, jobs...) }

// SendTo passes jobs to a row of a group, as Send does.
func (i *Inlet[J]) SendTo(group, row int, jobs ...*J) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.p.groups[group][row].insert(jobs...)
		return true
	}
	for _, j := range jobs {
		i.cache.Release(j)
	}
	i.cache.Drain()
	return false
}

// Close returns the inlet's free jobs to the pool. The stages still work on jobs that were sent
// before Close.
func (i *Inlet[J]) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.cache.Drain()
}
