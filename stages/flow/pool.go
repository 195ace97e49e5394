package flow

import "sync"

// A Pool holds jobs for reuse. Each stage takes and returns jobs through its own Cache, so that the
// pool's lock is taken only once per cacheRefill jobs.
type Pool[J any] struct {
	mu    sync.Mutex
	free  []*J
	taken int64 // jobs that caches have taken and not returned
	locks int64

	make  func() *J
	reset func(*J) // empties a job before its next use
	ref   func(*J) *Ref
}

const (
	cacheRefill = 32
	cacheLimit  = 2 * cacheRefill
	maxFree     = 1 << 14 // maximum number of free jobs in the pool
)

// NewPool returns a pool of jobs. ref returns a job's reference count; reset empties
// a job that has no reference left.
func NewPool[J any](newJob func() *J, reset func(*J), ref func(*J) *Ref) *Pool[J] {
	return &Pool[J]{make: newJob, reset: reset, ref: ref}
}

// Live returns how many jobs are outside the pool. The result includes the free jobs of caches, so
// it is exact only after all caches are drained.
func (p *Pool[J]) Live() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Locks returns how often the pool's lock was taken by caches.
func (p *Pool[J]) Locks() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locks
}

// NewCache returns an empty cache for one user of the pool.
func (p *Pool[J]) NewCache() Cache[J] { return Cache[J]{pool: p} }

// A Cache holds the free jobs of one user of a pool. It is not safe for concurrent use.
type Cache[J any] struct {
	pool *Pool[J]
	free []*J
}

// Get returns an empty job with one reference.
func (c *Cache[J]) Get() *J {
	if len(c.free) == 0 {
		c.refill()
	}
	n := len(c.free) - 1
	j := c.free[n]
	c.free = c.free[:n]
	c.pool.ref(j).acquire()
	return j
}

func (c *Cache[J]) refill() {
	p := c.pool
	p.mu.Lock()
	p.locks++
	p.taken += cacheRefill
	n := max(0, len(p.free)-cacheRefill)
	c.free = append(c.free, p.free[n:]...)
	clear(p.free[n:])
	p.free = p.free[:n]
	p.mu.Unlock()
	for len(c.free) < cacheRefill {
		c.free = append(c.free, p.make())
	}
}

// Release releases one reference to j. If it was the last reference, Release empties j and keeps j
// for reuse.
func (c *Cache[J]) Release(j *J) {
	if !c.pool.ref(j).release() {
		return
	}
	c.pool.reset(j)
	if quarantine {
		c.free = append(c.free, c.pool.make()) // j is never used again, so that a use after release is detected
	} else {
		c.free = append(c.free, j)
	}
	if len(c.free) >= cacheLimit {
		c.put(cacheRefill)
	}
}

// forget records that one job will never be released, so that it does not count as alive.
func (c *Cache[J]) forget() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.pool.taken--
}

// Drain returns the cache's free jobs to the pool.
func (c *Cache[J]) Drain() { c.put(len(c.free)) }

func (c *Cache[J]) put(count int) {
	p, n := c.pool, len(c.free)-count
	p.mu.Lock()
	p.locks++
	p.taken -= int64(count)
	p.free = append(p.free, c.free[n:]...)
	if over := len(p.free) - maxFree; over > 0 { // frees memory after a burst
		clear(p.free[maxFree:])
		p.free = p.free[:maxFree]
	}
	p.mu.Unlock()
	clear(c.free[n:])
	c.free = c.free[:n]
}
