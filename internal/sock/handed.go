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

// first is the first descriptor that the service manager passes.
const first = 3

// TakeHanded returns, by name, the listening sockets that the service manager has passed to process pid, as described in
// sd_listen_fds(3) of systemd. The manager keeps them open while the process does not run, so that no connection is refused.
// problems are the sockets that cannot be used, with reasons. These are not closed, because a wrong number may be a descriptor
// of the process itself.
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
				problems, fmt.Errorf("cannot use the socket %s from the service manager (descriptor %d): %w", name, fd, err),
			)
			continue
		}
		handed[name] = append(handed[name], Listening{FD: fd, Addr: addr})
	}
	return handed, problems
}

// adopt prepares a descriptor from the service manager, if it is a listening TCP socket.
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
		return netip.AddrPort{}, errors.New("it is not a listening TCP socket: write ListenStream=host:port")
	}
	unix.CloseOnExec(fd)
	return addr, unix.SetNonblock(fd, true)
}

// Listener moves the socket to package net.
func (l Listening) Listener() (net.Listener, error) {
	f := os.NewFile(uintptr(l.FD), "")
	defer f.Close() // package net uses a duplicate of the descriptor
	n, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use the socket %v from the service manager: %w", l.Addr, err)
	}
	return n, nil
}

// Share returns a listener of package net with its own descriptor: after it is closed, the socket still listens.
func (l Listening) Share() (net.Listener, error) {
	fd, err := unix.FcntlInt(uintptr(l.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot share the socket %v: %w", l.Addr, err)
	}
	return Listening{FD: fd, Addr: l.Addr}.Listener()
}

// Is reports whether the socket has the address that Listen(address) would listen on.
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
