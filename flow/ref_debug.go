//go:build pmgdebug

package flow

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

const quarantine = true

// A Ref counts the references to a job. In the debug build it panics when a job is used or
// released after its last reference was released, and the panic says where that was.
type Ref struct {
	n     atomic.Int32
	freed atomic.Pointer[[]byte]
}

func (r *Ref) acquire() { r.n.Store(1) }

// Retain adds a reference. Only a holder may call it.
func (r *Ref) Retain() { r.alive(); r.n.Add(1) }

func (r *Ref) release() bool {
	r.alive()
	if r.n.Add(-1) > 0 {
		return false
	}
	stack := debug.Stack()
	r.freed.Store(&stack)
	return true
}

func (r *Ref) alive() {
	if s := r.freed.Load(); s != nil {
		panic(fmt.Sprintf("flow: job used after its release at:\n%s", *s))
	}
	if r.n.Load() <= 0 {
		panic("flow: job used that has no reference left")
	}
}
