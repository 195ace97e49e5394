// Package machine reports what the machine has.
//
// # Start reading
//
// Memory.
package machine

import (
	"os"
	"strconv"
	"strings"
)

// assumed is the memory of a machine that does not say how much it has.
const assumed = 2 << 30

// Memory returns the bytes of memory that the process may use: the machine's,
// or its container's where that is less.
func Memory() int64 { return memory(total(), "/sys/fs/cgroup/memory.max") }

// memory is Memory of a machine with total bytes, 0 for unknown. limit is the
// file that holds the container's limit (cgroup v2).
func memory(total int64, limit string) int64 {
	if total <= 0 {
		total = assumed
	}
	text, err := os.ReadFile(limit)
	if err != nil {
		return total
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 { // "max" is no limit
		return total
	}
	return min(n, total)
}
