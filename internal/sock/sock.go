package sock

import (
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

// Listen opens a listening socket. A host name is resolved; port 0 lets the
// kernel choose.
func Listen(address string) (Listening, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return Listening{}, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	defer l.Close() // the duplicate that is returned is not watched by Go's poller
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return Listening{}, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	fd := -1
	if cerr := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return Listening{}, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return Listening{FD: fd, Addr: l.Addr().(*net.TCPAddr).AddrPort()}, nil
}

// Accept takes a waiting connection. ok is false when there is none, and also when one
// waits that cannot be taken: then err says why, for example that the process or the
// machine has no descriptor left.
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

// Connect begins to connect. The socket becomes writable when that is done; Connected
// then returns the outcome.
func Connect(to netip.AddrPort) (int, error) {
	family := unix.AF_INET6
	if to.Addr().Unmap().Is4() {
		family = unix.AF_INET
	}
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		if err = unix.SetNonblock(fd, true); err == nil {
			prepare(fd)
			err = unix.Connect(fd, sockaddr(to))
		}
		if err != nil && err != unix.EINPROGRESS {
			_ = unix.Close(fd)
		}
	}
	if err == nil || err == unix.EINPROGRESS {
		return fd, nil
	}
	return -1, fmt.Errorf("cannot connect to %s: %w", to, err)
}

// Connected returns the error of a connection attempt that is over, or nil.
func Connected(fd int) error {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if code != 0 {
		return unix.Errno(code)
	}
	_, err = unix.Getpeername(fd)
	return err
}

// Drain reads what the peer has sent beyond the end of a session, because closing
// a socket with unread bytes resets the connection, and the peer would lose our
// last answer with it.
func Drain(fd int) {
	var b [4096]byte
	for range 64 {
		if n, err := unix.Read(fd, b[:]); n <= 0 || err != nil {
			return
		}
	}
}

// prepare sets the options of a connection. A socket that refuses one works
// without it.
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

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if ip := a.Addr().Unmap(); ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	sa := &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	if zone := a.Addr().Zone(); zone != "" {
		if i, err := net.InterfaceByName(zone); err == nil {
			sa.ZoneId = uint32(i.Index)
		}
	}
	return sa
}
