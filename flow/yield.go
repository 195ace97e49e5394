package flow

import (
	"time"
	_ "unsafe" // for linkname
)

// A goroutine that is at work for 10 ms without a break is preempted by Go's monitor,
// and put where an idle thread, woken to look for work, may find it first: then the
// pipeline goes on on another processor, whose caches have nothing of it. On a machine
// of two that was 20 times a second, and 4 % of the messages. So we give way before,
// now and then, to who waits for this very processor, which wakes nobody.
const yieldEvery = int64(time.Millisecond)

// goyield is runtime.Gosched for who waits in the queue of this processor. The runtime
// keeps it as it is for others that use it the same way (go.dev/issue/67401).
//
//go:linkname goyield runtime.goyield
func goyield()
