package server

import (
	"context"
	"syscall"
	"time"

	"pmg/internal/sock"
)

// lookAgain is the pause between checks whether the client of a request that waits for its login has disconnected.
const lookAgain = 100 * time.Millisecond

// whileThere returns a context that ends when the client of the request disconnects. net/http does not notice that before the
// body has been read, and a login must not wait for a client that is gone.
func (x *Exchange) whileThere() (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(x.Request.Context())
	var look func()
	look = func() {
		if ctx.Err() != nil {
			return
		}
		if x.Conn.hungUp() {
			end()
			return
		}
		time.AfterFunc(lookAgain, look)
	}
	first := time.AfterFunc(lookAgain, look)
	return ctx, func() {
		first.Stop()
		end()
	}
}

// hungUp reports whether the client has ended its side of the connection, even if unread octets are
// left.
func (c *conn) hungUp() bool {
	raw, err := c.Conn.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	_ = raw.Control(func(fd uintptr) { gone = sock.HungUp(int(fd)) }) // an error means that the connection is closed
	return gone
}
