package loadtest

import (
	"os"
	"runtime"
)

// OneCore keeps this process on one core until restore is called. Load and sink share
// the machine with the gateway that they measure, and waking a second core for a few
// microseconds of work costs more than it saves. GOMAXPROCS in the environment wins.
func OneCore() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}
