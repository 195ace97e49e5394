package testutil

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A port that is kept refuses connections until a listener asks for it, which may be done again
// and again. No socket that asks for any port is given it, even if there is no other.
func TestFreeAddress(t *testing.T) {
	address := FreeAddress(t)
	for range 2 {
		if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("dialed an address that nothing listens on: %v, %v", conn, err)
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		l.Close()
	}
	const ipLocalPortRange = 51 // IP_LOCAL_PORT_RANGE, since Linux 6.3
	port := int(netip.MustParseAddrPort(address).Port())
	var unknown error
	only := func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			unknown = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, ipLocalPortRange, port<<16|port)
		})
	}
	l, err := (&net.ListenConfig{Control: only}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if unknown != nil {
		t.Logf("the rest is not tested: the kernel cannot limit the ports to choose from: %v", unknown)
		return
	}
	if err == nil {
		t.Errorf("%s was given to another listener", l.Addr())
		l.Close()
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if conn, err := (&net.Dialer{Control: only}).Dial("tcp4", other.Addr().String()); err == nil {
		t.Errorf("%s was given to a connection", conn.LocalAddr())
		conn.Close()
	}
}
