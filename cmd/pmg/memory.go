package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"pmg/connector"
)

// How often the memory in use is looked at, and from which peak on it is worth
// giving back to the system: doing so costs a garbage collection.
const (
	trimInterval = 10 * time.Second
	trimFrom     = 64 << 20
)

// trimMemory gives memory back to the system when a backlog has gone, until ctx is
// done. Left to itself the runtime takes minutes.
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
			runtime.GC() // empties the pools, which the next one then frees
			debug.FreeOSMemory()
		}
	}
}

// shouldTrim reports whether a backlog has gone since the peak, and returns the
// peak to compare with from now on.
func shouldTrim(peak, used int64) (next int64, trim bool) {
	if peak >= trimFrom && used < peak/4 {
		return used, true
	}
	return max(peak, used), false
}
