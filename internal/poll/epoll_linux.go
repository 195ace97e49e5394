package poll

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

type kernelEvents [batch]unix.EpollEvent

func create() (int, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return fd, unix.SetNonblock(fd, true)
}

func mask(read, write bool) (m uint32) {
	if read {
		m |= unix.EPOLLIN | unix.EPOLLRDHUP
	}
	if write {
		m |= unix.EPOLLOUT
	}
	return m
}

func (p *Poller) control(op, fd int, read, write bool) error {
	e := unix.EpollEvent{Events: mask(read, write), Fd: int32(fd)}
	if err := unix.EpollCtl(p.fd, op, fd, &e); err != nil {
		return fmt.Errorf("cannot watch descriptor %d: %w", fd, err)
	}
	return nil
}

// Add begins to watch fd.
func (p *Poller) Add(fd int, read, write bool) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, read, write)
}

// Set changes what fd is watched for.
func (p *Poller) Set(fd int, read, write bool) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, read, write)
}

// Remove ends the watch.
func (p *Poller) Remove(fd int) error {
	return p.control(unix.EPOLL_CTL_DEL, fd, false, false)
}

func (p *Poller) fetch() bool {
	// Raw, because it never blocks: see sock.Read.
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.kernel)), batch, 0, 0, 0)
	if errno != 0 {
		if errno == unix.EINTR {
			return false
		}
		p.err = fmt.Errorf("cannot wait for descriptors: %w", errno)
		return true
	}
	for _, e := range p.kernel[:n] {
		gone := e.Events&(unix.EPOLLHUP|unix.EPOLLERR) != 0
		p.events = append(p.events, Event{
			FD:       int(e.Fd),
			Readable: gone || e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
			Writable: gone || e.Events&unix.EPOLLOUT != 0,
			Gone:     gone,
		})
	}
	return n > 0
}
