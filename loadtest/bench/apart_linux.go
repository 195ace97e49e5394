package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// apart gives our threads the last processor that we may use, and a child's threads
// the others, until restore. Left to themselves both may share one, or not, for as
// long as they run: a round trip between two costs a wake-up across processors, four
// times as much where these are virtual. With one processor there is nothing to do.
func apart(child int) (restore func(), err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("cannot tell processors: %w", err)
	}
	if all.Count() < 2 {
		return func() {}, nil
	}
	var last unix.CPUSet
	others := all
	for cpu, left := 0, all.Count(); left > 0; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if left--; left == 0 {
			last.Set(cpu)
			others.Clear(cpu)
		}
	}
	own := os.Getpid()
	restore = func() { _ = keepTo(own, all) }
	if err = keepTo(own, last); err == nil {
		err = keepTo(child, others)
	}
	if err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// keepTo keeps a process's threads, and those that they will start, to some processors.
func keepTo(pid int, set unix.CPUSet) error {
	for range 2 { // a thread may start another while we go through them
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(threads) == 0 {
			return fmt.Errorf("cannot list threads of process %d: %w", pid, os.ErrNotExist)
		}
		for _, dir := range threads {
			thread, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				return fmt.Errorf("cannot read number of thread %s: %w", dir, err)
			}
			if err := unix.SchedSetaffinity(thread, &set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("cannot keep thread %d to its processors: %w", thread, err)
			}
		}
	}
	return nil
}
