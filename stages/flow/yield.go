package flow

import (
	"time"
	_ "unsafe" // for go:linkname
)

// yieldEvery is how long a source works before it yields its processor to other goroutines
// that wait for the same processor.
//
// Go's monitor preempts a goroutine that has run for 10 ms without a break, and puts it
// into the global queue, from which an idle thread may take it first. The pipeline then
// continues on another processor with cold caches. On a machine with 2 processors that
// happened 20 times a second and cost 4 % of the throughput. Yielding earlier, within the
// processor's own queue, wakes no other thread.
const yieldEvery = int64(time.Millisecond)

// goyield does the same as runtime.Gosched, but stays within the queue of this processor.
// The runtime guarantees its signature, because other packages link to it in the same way
// (go.dev/issue/67401).
//
//go:linkname goyield runtime.goyield
func goyield()
