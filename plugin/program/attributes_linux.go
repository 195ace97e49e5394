package program

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes returns the attributes of a process: its own group, which is killed as a whole, and death when the gateway ends.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: user}
}

// keepDescriptors marks all descriptors close-on-exec. The gateway's own files are marked anyway; descriptors that it
// inherited may not be, and Linux before 5.11 cannot mark all.
func keepDescriptors() { _ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }

// killEscaped kills the descendants of a running process, including those that have left its group. It does not find
// descendants whose parent has ended: a service manager ends them with the gateway.
func killEscaped(of int) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	parents := map[int]int{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil {
			parents[pid] = parentOf(pid)
		}
	}
	for pid, parent := range parents {
		up := parent
		for steps := 0; up != of && up > 1 && steps < len(parents); steps++ {
			up = parents[up]
		}
		if up != of {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if parentOf(pid) == parent { // the number has not been reused by another process
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

// parentOf returns the parent of a process, 0 if it is not known.
func parentOf(pid int) (parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var state string
	_, _ = fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent) // after the name, which may have any characters
	return parent
}
