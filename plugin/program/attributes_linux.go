package program

import (
	"math"
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
