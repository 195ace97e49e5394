// Package machine reports the memory of the machine.
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

// assumed is used if the machine's memory is not known.
const assumed = 2 << 30

// Memory returns the bytes of memory that the process may use: the memory of the machine, or the limit of the
// container if that is lower.
func Memory() int64 { return memory(total(), "/sys/fs/cgroup/memory.max") }

// memory returns Memory for a machine with total bytes, 0 if unknown. limit is the file with the container's limit (cgroup v2).
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
