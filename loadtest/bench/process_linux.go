package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// usageOf returns the usage of a process. It reads the CPU clock of the process, which
// counts nanoseconds, because /proc and rusage count clock ticks.
func usageOf(pid int) (u usage, err error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil { // 2: CPUCLOCK_SCHED, see clock_getcpuclockid(3)
		return u, fmt.Errorf("cannot read CPU clock of process %d: %w", pid, err)
	}
	u.cpu = time.Duration(ts.Nano())
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(dirs) == 0 {
		return u, fmt.Errorf("cannot list threads of process %d: %w", pid, os.ErrNotExist)
	}
	u.threads = len(dirs)
	for _, dir := range dirs {
		var running, waiting, slices int64
		sched, err := os.ReadFile(dir + "/schedstat")
		if err != nil {
			continue // the thread is over
		}
		if _, err := fmt.Sscan(string(sched), &running, &waiting, &slices); err != nil {
			return u, fmt.Errorf("cannot read %s/schedstat: %w", dir, err)
		}
		u.runnable += time.Duration(running + waiting)
		status, _ := os.ReadFile(dir + "/status")
		u.switches += field(status, "voluntary_ctxt_switches:") + field(status, "nonvoluntary_ctxt_switches:")
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, fmt.Errorf("cannot read status of process: %w", err)
	}
	u.peak = field(status, "VmHWM:") << 10
	io, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid)) // may be forbidden
	u.written = field(io, "wchar:")                       // write_bytes counts a large page of the cache for each small write
	return u, nil
}

// field returns the number after name at the beginning of a line.
func field(status []byte, name string) (n int64) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			_, _ = fmt.Sscan(string(rest), &n)
		}
	}
	return n
}
