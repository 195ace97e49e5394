package poll

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

type kernelEvents [batch]unix.EpollEvent

// open makes the epoll and the bell, another that watches the first for Go's poller.
// Watched by that itself, the first would wake an idle thread with each event, though
// we are at work and look for ourselves.
func (p *Poller) open() (err error) {
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if p.bell, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(p.fd)}
		if err = errors.Join(unix.SetNonblock(p.bell, true), unix.EpollCtl(p.bell, unix.EPOLL_CTL_ADD, p.fd, &e)); err != nil {
			_ = unix.Close(p.bell)
		}
	}
	if err != nil {
		_ = unix.Close(p.fd)
		return err
	}
	p.file = os.NewFile(uintptr(p.bell), "poller")
	return nil
}

// ring lets the bell be heard for what comes from now on, or mutes it. What is ready
// already does not ring if it was so when Go's poller looked last.
func (p *Poller) ring(on bool) error {
	e := unix.EpollEvent{Fd: int32(p.fd)}
	if on {
		e.Events = unix.EPOLLIN
	}
	return unix.EpollCtl(p.bell, unix.EPOLL_CTL_MOD, p.fd, &e)
}

// Close lets go of the poller, not of what it watches.
func (p *Poller) Close() error { return errors.Join(p.file.Close(), unix.Close(p.fd)) }

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
