package stages

import "sync"

// A buffer holds octets that were read from a socket together, or that will be written together.
// Jobs borrow buffers from a pool, because few jobs need a buffer at the same time. If each pooled
// job had its own buffer, these would grow, and a batch of jobs would not fit in the processor's
// cache.
type buffer struct{ b []byte }

// buffers is the pool of buffers. It is safe for concurrent use.
type buffers struct{ pool sync.Pool }

// get returns an empty buffer.
func (p *buffers) get() *buffer {
	if o, ok := p.pool.Get().(*buffer); ok {
		return o
	}
	return &buffer{}
}

// largestKept is the size of the largest buffer that the pool keeps. A pass may write this much to one session.
const largestKept = 64 << 10

// put returns a buffer to the pool, unless it has grown large.
func (p *buffers) put(o *buffer) {
	if cap(o.b) <= largestKept {
		o.b = o.b[:0]
		p.pool.Put(o)
	}
}

// giveBack returns the buffer of a job to the pool.
func (p *buffers) giveBack(j *Job) {
	if j.Octets != nil {
		p.put(j.Octets)
		j.Octets = nil
	}
}
