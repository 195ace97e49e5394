package sock

import (
	"math"

	"golang.org/x/sys/unix"
)

// DescriptorLimit returns the limit of open descriptors of the process. First it raises the soft limit to the
// hard limit, if the system allows it.
func DescriptorLimit() int {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return leastDescriptors
	}
	if r.Cur < r.Max {
		raised := r
		raised.Cur = r.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			r = raised
		}
	}
	return int(min(uint64(r.Cur), math.MaxInt))
}

// leastDescriptors is the limit that POSIX guarantees, used if the limit cannot be read.
const leastDescriptors = 20
