package bench

import "time"

// usage is what a process has used since its start, and what it has now.
type usage struct {
	cpu      time.Duration // of all threads, user and system
	runnable time.Duration // sum over its present threads of the time running or waiting for a core
	switches int64         // context switches of its present threads
	threads  int
	peak     int64 // bytes of resident memory
	written  int64 // octets written to files; 0: not known
}
