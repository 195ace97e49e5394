//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package sock

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func accept(fd int) (int, unix.Sockaddr, error) {
	syscall.ForkLock.RLock()
	s, sa, err := unix.Accept(fd)
	if err == nil {
		unix.CloseOnExec(s)
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		if err = unix.SetNonblock(s, true); err != nil {
			_ = unix.Close(s)
		}
	}
	return s, sa, err
}
