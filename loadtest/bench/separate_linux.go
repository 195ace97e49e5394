package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// separate keeps this process on the last processor that it may use, and a child on the others,
// until restore is called. Otherwise the kernel may put both on one processor or on two for as long
// as they run. A round trip between two takes a wake-up of the other processor. That costs four
// times as much if they are virtual. If there is only one processor, separate does nothing.
func separate(child int) (restore func(), err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("cannot read processor affinity: %w", err)
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
	restore = func() { _ = setAffinity(own, all) }
	if err = setAffinity(own, last); err == nil {
		err = setAffinity(child, others)
	}
	if err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// setAffinity restricts a process's threads, and those that they will start, to a set of
// processors.
func setAffinity(pid int, set unix.CPUSet) error {
	for range 2 { // twice, because a thread may start another during the first loop
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
				return fmt.Errorf("cannot set processor affinity of thread %d: %w", thread, err)
			}
		}
	}
	return nil
}
