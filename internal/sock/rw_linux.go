package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking socket.
//
// Read and Write are raw system calls, which Go's scheduler does not see. They never block,
// so the scheduler need not know. For other system calls, the scheduler's monitor checks every
// 20 µs whether one takes long. On a busy machine the kernel preempts a thread during a call, and
// the monitor hands the thread's processor to another thread, which took 8 to 20 % of the CPU.
func Read(fd int, b []byte) (int, error) { return call(unix.SYS_RECVFROM, fd, b, 0) }

// Write writes to a non-blocking socket; see Read.
func Write(fd int, b []byte) (int, error) { return call(unix.SYS_SENDTO, fd, b, unix.MSG_NOSIGNAL) }

// call makes one of the system calls recvfrom and sendto. They skip the kernel's VFS layer,
// which read and write go through, and take less CPU.
func call(number uintptr, fd int, b []byte, flags uintptr) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall6(
			number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0,
		)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return -1, unix.EAGAIN
		default:
			return -1, errno
		}
	}
}
