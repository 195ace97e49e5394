package sock

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pmg/internal/testkit/testutil"
)

// ready waits until fd can be read or written.
func ready(t *testing.T, fd int, events int16) {
	t.Helper()
	for end := time.Now().Add(testutil.Patience); ; {
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		if n, err := unix.Poll(fds, int(testutil.Patience.Milliseconds())); n > 0 {
			return
		} else if err != unix.EINTR || time.Now().After(end) {
			t.Fatalf("descriptor %d is never ready: %v", fd, err)
		}
	}
}

func listen(t *testing.T, address string) Listening {
	t.Helper()
	l, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(l.FD) })
	return l
}

// connection returns both ends of a TCP connection until the end of the test.
func connection(t *testing.T, address string) (client, server int, remote netip.AddrPort) {
	t.Helper()
	client, server, remote = connect(t, address)
	t.Cleanup(func() {
		_ = unix.Close(client)
		_ = unix.Close(server)
	})
	return client, server, remote
}

func connect(t *testing.T, address string) (client, server int, remote netip.AddrPort) {
	t.Helper()
	l := listen(t, address)
	conn, err := net.Dial("tcp", l.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	client, to, err := Take(conn)
	if err != nil || to != l.Addr {
		t.Fatalf("taken over as one to %v, want %v: %v", to, l.Addr, err)
	}
	ready(t, l.FD, unix.POLLIN)
	server, remote, ok, err := Accept(l.FD)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return client, server, remote
}

// A connection is opened, does not block, does not delay writes, and has the right
// addresses.
func TestConnection(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0"} {
		t.Run(address, func(t *testing.T) {
			if _, err := Listen(address); err != nil && strings.Contains(err.Error(), "assign") {
				t.Skip(err)
			}
			client, server, remote := connection(t, address)
			if remote != local(client) || !remote.IsValid() || remote.Addr().Is4In6() {
				t.Errorf("accepted from %v, but the client is %v", remote, local(client))
			}
			for _, fd := range []int{client, server} {
				for _, option := range [][2]int{{unix.IPPROTO_TCP, unix.TCP_NODELAY}, {unix.SOL_SOCKET, unix.SO_KEEPALIVE}} {
					if on, err := unix.GetsockoptInt(fd, option[0], option[1]); on == 0 || err != nil {
						t.Errorf("option %v is %d, %v", option, on, err)
					}
				}
				if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC == 0 || err != nil {
					t.Errorf("the descriptor would outlive an exec: %d, %v", flags, err)
				}
			}
			var b [8]byte
			if n, err := Read(server, b[:]); err != unix.EAGAIN {
				t.Errorf("read %d octets from an empty socket: %v", n, err)
			}
			if n, err := Write(client, []byte("hello")); n != 5 || err != nil {
				t.Error(n, err)
			}
			ready(t, server, unix.POLLIN)
			if n, err := Read(server, b[:]); err != nil || string(b[:n]) != "hello" {
				t.Errorf("read %q, %v", b[:n], err)
			}
			if n, err := Write(client, nil); n != 0 || err != nil {
				t.Errorf("wrote no octets: %d, %v", n, err)
			}
		})
	}
}

// Accept returns no error if no connection waits.
func TestAcceptNone(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	if _, _, ok, err := Accept(l.FD); ok || err != nil {
		t.Error(ok, err)
	}
}

// A connection that cannot be taken over is closed.
func TestTakeFails(t *testing.T) {
	one, other := net.Pipe()
	if _, _, err := Take(one); err == nil || !strings.Contains(err.Error(), "cannot take over") {
		t.Error(err)
	}
	if _, err := other.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
	l := listen(t, "127.0.0.1:0")
	conn, err := net.Dial("tcp", l.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if _, _, err := Take(conn); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// Write writes as many octets as the socket takes. If the peer is gone, there is an error
// and no signal.
func TestWritePartly(t *testing.T) {
	client, server, _ := connect(t, "127.0.0.1:0")
	defer unix.Close(client)
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for {
		n, err := Write(client, chunk)
		if err == unix.EAGAIN {
			break
		}
		if n <= 0 || err != nil {
			t.Fatal(n, err)
		}
	}
	// The peer has unread bytes, so closing it resets the connection.
	if err := unix.Close(server); err != nil {
		t.Fatal(err)
	}
	ready(t, client, unix.POLLIN)
	_, _ = Write(client, chunk) // consumes the pending error of the socket
	_, err := Write(client, chunk)
	if err != unix.EPIPE && err != unix.ECONNRESET {
		t.Error(err)
	}
}

// Closing a socket with unread bytes resets the connection, and the peer loses the last
// answer. After Drain it does not.
func TestDrain(t *testing.T) {
	client, server, _ := connection(t, "127.0.0.1:0")
	if _, err := Write(client, bytes.Repeat([]byte("x"), 100_000)); err != nil {
		t.Fatal(err)
	}
	ready(t, server, unix.POLLIN)
	if _, err := Write(server, []byte("bye")); err != nil {
		t.Fatal(err)
	}
	Drain(server)
	if err := unix.Shutdown(server, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	ready(t, client, unix.POLLIN)
	if n, err := Read(client, b[:]); err != nil || string(b[:n]) != "bye" {
		t.Errorf("the last answer is %q, %v", b[:n], err)
	}
	if n, err := Read(server, b[:]); n > 0 {
		t.Errorf("%d bytes are left, %v", n, err)
	}
}

// Reading and writing do not allocate, not even for the error that no data waits.
func TestAllocations(t *testing.T) {
	client, server, _ := connection(t, "127.0.0.1:0")
	b := make([]byte, 64)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = Write(client, b)
		_, _ = Read(server, b)
		_, _ = Read(server, b)
		_, _ = Read(client, b)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestListenFails(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	for address, want := range map[string]string{
		l.Addr.String(): "cannot listen on " + l.Addr.String() + ": address already in use: stop the program",
		"192.0.2.1:0":   "cannot listen on 192.0.2.1:0: cannot assign requested address: choose an address",
		"nonsense":      "cannot listen on nonsense: listen tcp: address nonsense: missing port",
	} {
		if _, err := Listen(address); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// local returns the local address.
func local(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(sa)
}

// Peek leaves what it reads.
func TestPeek(t *testing.T) {
	client, server, _ := connection(t, "127.0.0.1:0")
	var b [8]byte
	if n, err := Peek(server, b[:]); err != unix.EAGAIN {
		t.Errorf("%d octets of an empty socket: %v", n, err)
	}
	if _, err := Write(client, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	ready(t, server, unix.POLLIN)
	for _, read := range []func(int, []byte) (int, error){Peek, Peek, Read} {
		if n, err := read(server, b[:]); err != nil || string(b[:n]) != "hello" {
			t.Errorf("read %q, %v", b[:n], err)
		}
	}
}

// A peer that has hung up is noticed, though what it has sent is not read.
func TestHungUp(t *testing.T) {
	client, server, _ := connection(t, "127.0.0.1:0")
	if HungUp(server) {
		t.Error("it has hung up at once")
	}
	if _, err := Write(client, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	ready(t, server, unix.POLLIN)
	if HungUp(server) {
		t.Error("it has hung up because it has sent something")
	}
	if runtime.GOOS != "linux" {
		_, _ = Read(server, make([]byte, 8))
	}
	if err := unix.Shutdown(client, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "it has hung up", func() bool { return HungUp(server) })
}
