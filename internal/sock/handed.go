package sock

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// first is the descriptor of the first socket that is handed over.
const first = 3

// TakeHanded returns, by name, the listening sockets that the process pid was started with, as
// sd_listen_fds(3) of systemd describes. The service manager keeps them open while the process is not there,
// so that no connection is refused. problems says which cannot be used, and why. Those are left alone,
// because a number that is wrong may be that of a descriptor of the process's own.
func TakeHanded(getenv func(string) string, pid int) (handed map[string][]Listening, problems []error) {
	n, err := strconv.Atoi(getenv("LISTEN_FDS"))
	if err != nil || n <= 0 || getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	handed = map[string][]Listening{}
	names := strings.Split(getenv("LISTEN_FDNAMES"), ":")
	for i := range n {
		fd, name := first+i, "unknown" // the name that systemd uses for sockets without a name
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		addr, err := adopt(fd)
		if err != nil {
			problems = append(
				problems, fmt.Errorf("cannot use the socket %s that was handed over (descriptor %d): %w", name, fd, err),
			)
			continue
		}
		handed[name] = append(handed[name], Listening{FD: fd, Addr: addr})
	}
	return handed, problems
}

// adopt prepares a descriptor that was handed over, if it is a socket that listens for TCP.
func adopt(fd int) (netip.AddrPort, error) {
	listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return netip.AddrPort{}, err
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr := addrPort(sa)
	if listens == 0 || !addr.IsValid() {
		return netip.AddrPort{}, errors.New("it is no socket that listens for TCP: write ListenStream=host:port")
	}
	unix.CloseOnExec(fd)
	return addr, unix.SetNonblock(fd, true)
}

// Listener gives the socket to package net.
func (l Listening) Listener() (net.Listener, error) {
	f := os.NewFile(uintptr(l.FD), "")
	defer f.Close() // package net uses a duplicate of the descriptor
	n, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use the socket %v that was handed over: %w", l.Addr, err)
	}
	return n, nil
}

// Share returns a listener for package net that has a descriptor of its own: when it is closed, the socket goes on to listen.
func (l Listening) Share() (net.Listener, error) {
	fd, err := unix.FcntlInt(uintptr(l.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot share the socket %v: %w", l.Addr, err)
	}
	return Listening{FD: fd, Addr: l.Addr}.Listener()
}

// Is reports whether Listen would listen on the socket's address if it were called with address.
func (l Listening) Is(address string) bool {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil || a.Port != 0 && a.Port != int(l.Addr.Port()) {
		return false
	}
	if len(a.IP) == 0 || a.IP.IsUnspecified() {
		return l.Addr.Addr().IsUnspecified()
	}
	return a.AddrPort().Addr().Unmap() == l.Addr.Addr()
}
