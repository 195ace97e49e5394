package sock

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Listening socket.
type Listening struct {
	FD   int
	Addr netip.AddrPort
}

// Listen opens a listening socket. A host name is resolved; with port 0 the kernel chooses.
func Listen(address string) (Listening, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return Listening{}, ListenError(address, err)
	}
	defer l.Close()
	fd, err := duplicate(l.(*net.TCPListener))
	if err != nil {
		return Listening{}, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return Listening{FD: fd, Addr: l.Addr().(*net.TCPAddr).AddrPort()}, nil
}

// ListenError explains an error of net.Listen on an address to users.
func ListenError(address string, err error) error {
	var number syscall.Errno
	switch {
	case !errors.As(err, &number):
		return fmt.Errorf("cannot listen on %s: %w", address, err)
	case number == syscall.EADDRINUSE:
		return fmt.Errorf(
			"cannot listen on %s: %w: stop the program that listens there (ss -ltnp shows it), or choose another port",
			address, number,
		)
	case number == syscall.EADDRNOTAVAIL:
		return fmt.Errorf(
			"cannot listen on %s: %w: choose an address that this machine has (ip addr shows them)", address, number,
		)
	}
	return fmt.Errorf("cannot listen on %s: %w", address, number)
}

// Accept accepts a waiting connection. ok is false if there is none. It is also false if
// accepting failed: then err has the reason, for example that the process or the machine
// has no descriptor left.
func Accept(listening int) (fd int, remote netip.AddrPort, ok bool, err error) {
	for {
		fd, sa, err := accept(listening)
		switch err {
		case nil:
			prepare(fd)
			return fd, addrPort(sa), true, nil
		case unix.EINTR, unix.ECONNABORTED:
			continue
		case unix.EAGAIN:
			return -1, netip.AddrPort{}, false, nil
		}
		return -1, netip.AddrPort{}, false, fmt.Errorf("cannot accept: %w", err)
	}
}

// Take takes a connection over from package net: it returns a non-blocking descriptor of the same socket and closes conn, even
// if it fails.
func Take(conn net.Conn) (fd int, remote netip.AddrPort, err error) {
	defer conn.Close()
	c, ok := conn.(*net.TCPConn)
	if !ok {
		return -1, netip.AddrPort{}, fmt.Errorf("cannot take over a connection of type %T", conn)
	}
	if fd, err = duplicate(c); err != nil {
		return -1, netip.AddrPort{}, fmt.Errorf("cannot take over connection to %s: %w", c.RemoteAddr(), err)
	}
	remote = c.RemoteAddr().(*net.TCPAddr).AddrPort()
	return fd, netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port()), nil
}

// duplicate returns a new descriptor of a socket of package net. Go's poller does not watch
// it, and it stays open when c is closed.
func duplicate(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	if cerr := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) }); cerr != nil {
		return -1, cerr
	}
	return fd, err
}

// Peek reads from a non-blocking socket, and leaves the octets in the socket.
func Peek(fd int, b []byte) (n int, err error) {
	for {
		if n, _, err = unix.Recvfrom(fd, b, unix.MSG_PEEK); err != unix.EINTR {
			return n, err
		}
	}
}

// Drain reads and drops data that the peer has sent after the end of a session. Closing a
// socket with unread bytes resets the connection, and then the peer would lose the last
// answer.
func Drain(fd int) {
	var b [4096]byte
	for range 64 {
		if n, err := unix.Read(fd, b[:]); n <= 0 || err != nil {
			return
		}
	}
}

// prepare sets the options of a connection. It ignores errors, because a socket works
// without the options.
func prepare(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}
