//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package poll

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

type kernelEvents [batch]unix.Kevent_t

// open creates the kqueue, which Go's poller watches itself.
func (p *Poller) open() (err error) {
	if p.fd, err = unix.Kqueue(); err != nil {
		return err
	}
	unix.CloseOnExec(p.fd)
	if err = unix.SetNonblock(p.fd, true); err != nil {
		_ = unix.Close(p.fd)
		return err
	}
	p.notifier, p.file = p.fd, os.NewFile(uintptr(p.fd), "poller")
	return nil
}

// setNotify does nothing, because Go's poller watches the kqueue itself.
func (p *Poller) setNotify(bool) error { return nil }

// Close closes the poller, not the descriptors that it watches.
func (p *Poller) Close() error { return p.file.Close() }

func (p *Poller) control(fd int, filter, flags int) error {
	var e unix.Kevent_t
	unix.SetKevent(&e, fd, filter, flags)
	if _, err := unix.Kevent(p.fd, []unix.Kevent_t{e}, nil, nil); err != nil {
		return fmt.Errorf("cannot watch descriptor %d: %w", fd, err)
	}
	return nil
}

func enable(on bool) int {
	if on {
		return unix.EV_ADD | unix.EV_ENABLE
	}
	return unix.EV_ADD | unix.EV_DISABLE
}

// Add begins to watch fd.
func (p *Poller) Add(fd int, read, write bool) error { return p.Set(fd, read, write) }

// Set changes the events that fd is watched for.
func (p *Poller) Set(fd int, read, write bool) error {
	if err := p.control(fd, unix.EVFILT_READ, enable(read)); err != nil {
		return err
	}
	return p.control(fd, unix.EVFILT_WRITE, enable(write))
}

// Remove ends the watch.
func (p *Poller) Remove(fd int) error {
	if err := p.control(fd, unix.EVFILT_READ, unix.EV_DELETE); err != nil {
		return err
	}
	return p.control(fd, unix.EVFILT_WRITE, unix.EV_DELETE)
}

func (p *Poller) fetch() bool {
	var now unix.Timespec
	n, err := unix.Kevent(p.fd, nil, p.kernel[:], &now)
	if err != nil && err != unix.EINTR {
		p.setErr(err)
		return true
	}
	for _, e := range p.kernel[:max(n, 0)] {
		over := e.Flags&unix.EV_EOF != 0
		p.events = append(p.events, Event{
			FD:       int(e.Ident),
			Readable: over || e.Filter == unix.EVFILT_READ,
			Writable: over || e.Filter == unix.EVFILT_WRITE,
			Gone:     over && e.Filter == unix.EVFILT_WRITE,
		})
	}
	return n > 0
}
