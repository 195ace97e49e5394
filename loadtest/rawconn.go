package loadtest

import (
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"

	"pmg/internal/sock"
)

// A rawConn reads and writes with raw system calls, which Go's scheduler does not see
// (see sock.Read), and parks in Go's poller like any connection. One goroutine reads.
type rawConn struct {
	*net.TCPConn
	read    transfer
	writing sync.Mutex
	write   transfer
}

// A transfer holds the buffer of a call under way, in one direction.
type transfer struct {
	wait func(func(fd uintptr) bool) error
	step func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

// newRawConn returns a rawConn for a TCP connection, and any other connection unchanged.
func newRawConn(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	c := &rawConn{TCPConn: tcp}
	c.read.wait, c.write.wait = raw.Read, raw.Write
	c.read.step = func(fd uintptr) bool {
		c.read.n, c.read.err = sock.Read(int(fd), c.read.b)
		return c.read.err != unix.EAGAIN
	}
	c.write.step = func(fd uintptr) bool {
		w := &c.write
		for w.err = nil; w.err == nil && w.n < len(w.b); {
			var n int
			n, w.err = sock.Write(int(fd), w.b[w.n:])
			w.n += max(n, 0)
		}
		return w.err != unix.EAGAIN
	}
	return c
}

func (t *transfer) run(b []byte) (int, error) {
	t.b, t.n, t.err = b, 0, nil
	err := t.wait(t.step)
	if err == nil {
		err = t.err
	}
	t.b = nil
	return max(t.n, 0), err
}

func (c *rawConn) Read(b []byte) (int, error) {
	n, err := c.read.run(b)
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

func (c *rawConn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.write.run(b)
}
