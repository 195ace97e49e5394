package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"pmg/connector"
)

// trimInterval is how often the memory in use is checked. trimFrom is the least peak for
// which memory is given back to the system, because that costs a garbage collection.
const (
	trimInterval = 10 * time.Second
	trimFrom     = 64 << 20
)

// trimMemory gives memory back to the system whenever a backlog has been sent, until ctx
// is done. Without it, the runtime takes minutes to do so.
func trimMemory(ctx context.Context, m *connector.Memory) {
	t := time.NewTicker(trimInterval)
	defer t.Stop()
	peak := int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		var trim bool
		if peak, trim = shouldTrim(max(peak, m.Peak()), m.Used()); trim {
			runtime.GC() // takes objects out of the pools, so that the next collection frees them
			debug.FreeOSMemory()
		}
	}
}

// shouldTrim reports whether a backlog has been sent since the peak, and returns the peak
// for the next call.
func shouldTrim(peak, used int64) (next int64, trim bool) {
	if peak >= trimFrom && used < peak/4 {
		return used, true
	}
	return max(peak, used), false
}
