//go:build !pmgdebug

package flow

import "sync/atomic"

// quarantine reports whether released jobs are never used again, as in the debug build.
const quarantine = false

// A Ref counts the references to a job. The count of a job in the pool is 0 or 1: most jobs only
// ever have one holder, and their counts need not be written.
type Ref struct{ n atomic.Int32 }

func (r *Ref) acquire() {
	if r.n.Load() != 1 {
		r.n.Store(1)
	}
}

// Retain adds a reference. Only a holder may call it.
func (r *Ref) Retain() { r.n.Add(1) }

// release releases a reference and reports whether it was the last one. A sole holder needs
// no atomic subtraction, because no other goroutine can change the count.
func (r *Ref) release() bool { return r.n.Load() == 1 || r.n.Add(-1) == 0 }
