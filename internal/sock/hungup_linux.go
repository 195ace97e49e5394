package sock

import "golang.org/x/sys/unix"

// HungUp reports whether the peer of a socket will send nothing more, even if data that it has sent was not read yet.
func HungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents != 0
}
