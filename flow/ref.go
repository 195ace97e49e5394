//go:build !pmgdebug

package flow

import "sync/atomic"

// quarantine keeps released jobs from being used again, in the debug build.
const quarantine = false

// A Ref counts the references to a job. The count of a job in the pool is 0 or 1: the
// usual job has one holder all its life, so its count is never written again.
type Ref struct{ n atomic.Int32 }

func (r *Ref) acquire() {
	if r.n.Load() != 1 {
		r.n.Store(1)
	}
}

// Retain adds a reference. Only a holder may call it.
func (r *Ref) Retain() { r.n.Add(1) }

// release gives up a reference and reports whether it was the last one. A sole holder needs no
// read-modify-write: no other goroutine can change the count.
func (r *Ref) release() bool { return r.n.Load() == 1 || r.n.Add(-1) == 0 }
