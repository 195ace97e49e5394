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

// attributes returns how a process begins: in a group of its own, which is killed as a whole. It does not outlive the gateway.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: user}
}

// keepDescriptors keeps all descriptors from the processes to come. Those that the gateway opens are kept anyway; those that it
// was started with may not be, and Linux before 5.11 cannot do that for all.
func keepDescriptors() { _ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }

// killEscaped kills the processes that descend from one that still runs, also those that have left its group. One whose parent
// has ended is not found: a service manager ends it with the gateway.
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
		if parentOf(pid) == parent { // the number is not another process's meanwhile
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

// parentOf returns the parent of a process, 0 if that is not known.
func parentOf(pid int) (parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var state string
	_, _ = fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent) // behind the name, which may have anything
	return parent
}
