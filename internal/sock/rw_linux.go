package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking socket.
//
// Read and Write do not tell Go's scheduler that they are in a system call, since
// they never block. Told, it would look every 20 µs whether one takes long, and
// on a busy machine, where the kernel itself is preempted, find that it does and
// give the processor to another thread: over 10 % of the CPU (docs/bench.md).
func Read(fd int, b []byte) (int, error) { return call(unix.SYS_READ, fd, b) }

// Write writes to a non-blocking socket, or to a file; see Read.
func Write(fd int, b []byte) (int, error) { return call(unix.SYS_WRITE, fd, b) }

func call(number uintptr, fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
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
