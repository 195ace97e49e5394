package testutil

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// FreeAddress returns an address of this host that nothing listens on, and keeps its port for the
// test until it ends: no listener on any port and no outgoing connection of any process gets it.
// Otherwise the peers of an SMSC that is down would meet another test's. A listener that asks for
// the port gets it, as often as it likes.
//
// The port is kept by a socket that is bound and does not listen. Listeners may share its
// port, because both they and the socket have SO_REUSEADDR.
func FreeAddress(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := bound.(*unix.SockaddrInet4)
	return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)).String()
}
