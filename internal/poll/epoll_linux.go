package poll

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

type kernelEvents [batch]unix.EpollEvent

// open creates the epoll and the notifier, which is a second epoll. The notifier watches
// the first epoll, and Go's poller watches the notifier. If Go's poller watched the first
// epoll itself, each event would wake an idle thread, although the poller's goroutine is
// working and fetches the event anyway.
func (p *Poller) open() (err error) {
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if p.notifier, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(p.fd)}
		if err = errors.Join(
			unix.SetNonblock(p.notifier, true), unix.EpollCtl(p.notifier, unix.EPOLL_CTL_ADD, p.fd, &e),
		); err != nil {
			_ = unix.Close(p.notifier)
		}
	}
	if err != nil {
		_ = unix.Close(p.fd)
		return err
	}
	p.file = os.NewFile(uintptr(p.notifier), "poller")
	return nil
}

// setNotify enables or disables the notifier for later events. A descriptor that was
// ready at the last check by Go's poller does not cause a notification.
func (p *Poller) setNotify(on bool) error {
	e := unix.EpollEvent{Fd: int32(p.fd)}
	if on {
		e.Events = unix.EPOLLIN
	}
	return unix.EpollCtl(p.notifier, unix.EPOLL_CTL_MOD, p.fd, &e)
}

// Close closes the poller, not the descriptors that it watches.
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

// Set changes the events that fd is watched for.
func (p *Poller) Set(fd int, read, write bool) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, read, write)
}

// Remove ends the watch.
func (p *Poller) Remove(fd int) error {
	return p.control(unix.EPOLL_CTL_DEL, fd, false, false)
}

func (p *Poller) fetch() bool {
	// A raw system call, because it never blocks; see sock.Read.
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.kernel)), batch, 0, 0, 0)
	if errno != 0 {
		if errno == unix.EINTR {
			return false
		}
		p.setErr(errno)
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
