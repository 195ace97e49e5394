//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package sock

import "golang.org/x/sys/unix"

// Read reads from a non-blocking socket.
func Read(fd int, b []byte) (int, error) { return retry(unix.Read, fd, b) }

// Write writes to a non-blocking socket.
func Write(fd int, b []byte) (int, error) { return retry(unix.Write, fd, b) }

func retry(call func(int, []byte) (int, error), fd int, b []byte) (int, error) {
	for {
		if n, err := call(fd, b); err != unix.EINTR {
			return n, err
		}
	}
}
