//go:build pmgdebug

package flow

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

const quarantine = true

// A Ref counts the references to a job. In the debug build it panics when a job is used or released
// after its last release. The panic reports where the job was last released.
type Ref struct {
	n     atomic.Int32
	freed atomic.Pointer[place]
}

// A place is the call stack of a release, the latest caller first. It is short, because otherwise
// the places of all jobs would fill most of the memory of a busy machine.
type place [16]uintptr

func (r *Ref) acquire() { r.n.Store(1) }

// Retain adds a reference. Only a holder may call it.
func (r *Ref) Retain() { r.alive(); r.n.Add(1) }

func (r *Ref) release() bool {
	r.alive()
	if r.n.Add(-1) > 0 {
		return false
	}
	p := new(place)
	runtime.Callers(2, p[:])
	r.freed.Store(p)
	return true
}

func (r *Ref) alive() {
	if p := r.freed.Load(); p != nil {
		panic(fmt.Sprintf("flow: job used after its release at:\n%s", p))
	}
	if r.n.Load() <= 0 {
		panic("flow: job used that has no reference left")
	}
}

// String returns the functions and lines of the callers in the place.
func (p *place) String() string {
	var b strings.Builder
	for frames, more := runtime.CallersFrames(p[:]), true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.PC != 0 {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
	}
	return b.String()
}
