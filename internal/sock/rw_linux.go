package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking socket.
//
// Read, Write and WriteFile do not tell Go's scheduler that they are in a system call,
// since they never block. Told, it would look every 20 µs whether one takes long, and
// on a busy machine, where the kernel itself is preempted, find that it does and
// give the processor to another thread: over 10 % of the CPU (docs/bench.md).
func Read(fd int, b []byte) (int, error) { return call(unix.SYS_RECVFROM, fd, b, 0) }

// Write writes to a non-blocking socket; see Read.
func Write(fd int, b []byte) (int, error) { return call(unix.SYS_SENDTO, fd, b, unix.MSG_NOSIGNAL) }

// WriteFile writes to a file; see Read.
func WriteFile(fd int, b []byte) (int, error) { return call(unix.SYS_WRITE, fd, b, 0) }

// call is one of write, recvfrom and sendto. What a file can do beside being read and
// written costs a socket's read and write more than the last two, which know no files.
func call(number uintptr, fd int, b []byte, flags uintptr) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall6(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0)
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
