package flow

import (
	"time"
	_ "unsafe" // for linkname
)

// yieldEvery is how long a source works before it yields its processor to the
// goroutines that wait for that processor.
//
// Go's monitor preempts a goroutine that has worked for 10 ms without a break, and puts
// it where an idle thread, woken to look for work, may find it first. The pipeline
// then continues on another processor, whose caches hold nothing of it: on a machine
// with 2 processors that happened 20 times a second and cost 4 % of the throughput.
// Yielding before that, within the processor's own queue, wakes no other thread.
const yieldEvery = int64(time.Millisecond)

// goyield is runtime.Gosched restricted to the queue of this processor. The runtime
// keeps it as it is, because other packages use it the same way (go.dev/issue/67401).
//
//go:linkname goyield runtime.goyield
func goyield()
