package bench

import "time"

// usage is what a process has used since its start, and what it has.
type usage struct {
	cpu      time.Duration // of all threads, user and system
	runnable time.Duration // summed over the threads it has: running, or waiting for a core
	switches int64         // context switches of the threads it has
	threads  int
	peak     int64 // bytes of resident memory
}
