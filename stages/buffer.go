package stages

import "sync"

// A buffer holds octets that were read from a socket in one piece, or are to be
// written in one. Few jobs need one, so none has its own: jobs that are used again
// and again would all grow one in the end, and a batch would not fit the
// processor's cache.
type buffer struct{ b []byte }

// buffers lends them. It is safe for concurrent use.
type buffers struct{ pool sync.Pool }

// get returns an empty buffer.
func (p *buffers) get() *buffer {
	if o, ok := p.pool.Get().(*buffer); ok {
		return o
	}
	return &buffer{}
}

// put takes one back, unless it has grown large.
func (p *buffers) put(o *buffer) {
	if cap(o.b) <= readSize {
		o.b = o.b[:0]
		p.pool.Put(o)
	}
}

// giveBack gives up the buffer of a job.
func (p *buffers) giveBack(j *Job) {
	if j.Octets != nil {
		p.put(j.Octets)
		j.Octets = nil
	}
}
