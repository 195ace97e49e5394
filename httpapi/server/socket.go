package server

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/internal/sock"
)

// A Pipeline handles the requests that submit one message.
type Pipeline interface {
	// Take takes over a connection that host has admitted. It reports false if it does not.
	Take(c *connector.Connector, fd int, remote netip.AddrPort, host connector.Host) bool
}

// A socket is an accepted connection that the pipeline has until a request comes which it leaves to net/http.
//
//	pipeline has it ──become──► net/http has it ──Close──► closed
//	      └──Close──► shut, until the pipeline has noticed it ──leave──► closed
type socket struct {
	mu     sync.Mutex
	fd     int      // -1: the pipeline does not have the connection
	closed bool     // Close was called, or the pipeline has closed the descriptor
	conn   net.Conn // nil: the pipeline has the connection
	unread []byte   // octets that the pipeline has read, and net/http has not
}

var errPipeline = errors.New("the pipeline has the connection")

// become gives the connection to net/http, with octets that were already read.
func (s *socket) become(octets []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := connOn(s.fd)
	s.fd = -1
	switch {
	case err != nil:
		s.closed = true
		return err
	case s.closed:
		_ = c.Close()
		return net.ErrClosed
	}
	s.conn, s.unread = c, octets
	return nil
}

// leave records that the descriptor is closed next.
func (s *socket) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fd, s.closed = -1, true
}

// real returns the connection of net/http, nil if the pipeline has it.
func (s *socket) real() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// Close implements net.Conn. The pipeline notices it on the socket.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	switch {
	case s.conn != nil:
		return s.conn.Close()
	case s.fd >= 0:
		return unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
	return nil
}

// Read implements net.Conn. Only one goroutine reads.
func (s *socket) Read(b []byte) (int, error) {
	if len(s.unread) > 0 {
		n := copy(b, s.unread)
		if s.unread = s.unread[n:]; len(s.unread) == 0 {
			s.unread = nil
		}
		return n, nil
	}
	if c := s.real(); c != nil {
		return c.Read(b)
	}
	return 0, errPipeline
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	if c := s.real(); c != nil {
		return c.Write(b)
	}
	return 0, errPipeline
}

// LocalAddr implements net.Conn.
func (s *socket) LocalAddr() net.Addr {
	if c := s.real(); c != nil {
		return c.LocalAddr()
	}
	return &net.TCPAddr{}
}

// RemoteAddr implements net.Conn. Nobody asks for it: a conn knows the client's address.
func (s *socket) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline implements net.Conn. The pipeline has limits of its own.
func (s *socket) SetDeadline(t time.Time) error {
	if c := s.real(); c != nil {
		return c.SetDeadline(t)
	}
	return nil
}

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error {
	if c := s.real(); c != nil {
		return c.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error {
	if c := s.real(); c != nil {
		return c.SetWriteDeadline(t)
	}
	return nil
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) {
	if c, ok := s.real().(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errPipeline
}

// A guest is a connection that the pipeline has. It implements connector.Host.
type guest struct {
	*conn
	socket *socket
	from   *admitting
}

// LogIn implements connector.Host.
func (g *guest) LogIn(account string) bool {
	g.LoggedIn()
	return g.conn.LogIn(account)
}

// Closing implements connector.Host.
func (g *guest) Closing() {
	g.socket.leave()
	_ = g.conn.Close()
}

// TakeBack implements connector.Host. The connection goes to net/http, unless the listener is closed.
func (g *guest) TakeBack(_ int, octets []byte) {
	if g.socket.become(octets) != nil {
		_ = g.conn.Close()
		return
	}
	go func() { // give waits for net/http
		if !g.from.give(accepted{conn: g.conn}) {
			_ = g.conn.Close()
		}
	}()
}

// acceptSockets accepts connections for the pipeline, until the listener is closed.
func (a *admitting) acceptSockets() {
	for {
		fd, peer, err := a.acceptSocket()
		switch {
		case err == nil && !a.of.Connector.Config().IsProxy(peer.Addr()):
			a.admitSocket(fd, peer)
		case err == nil:
			if c, failed := connOn(fd); failed == nil {
				a.admit(c)
			}
		case !a.give(accepted{err: err}):
			return
		}
	}
}

// acceptSocket waits for a connection.
func (a *admitting) acceptSocket() (fd int, peer netip.AddrPort, err error) {
	in, err := a.file.SyscallConn()
	if err != nil {
		return -1, peer, net.ErrClosed
	}
	closed := in.Read(func(listening uintptr) (done bool) {
		fd, peer, done, err = sock.Accept(int(listening))
		return done || err != nil
	})
	if closed != nil {
		return -1, peer, net.ErrClosed
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		err = errno // which net/http knows to be temporary
	}
	return fd, peer, err
}

// connOn returns the connection of package net on a descriptor, which it closes.
func connOn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "")
	defer f.Close() // package net uses a duplicate
	return net.FileConn(f)
}

// admitSocket admits a connection and gives it to the pipeline, or closes it.
func (a *admitting) admitSocket(fd int, peer netip.AddrPort) {
	s := &socket{fd: fd}
	k := a.place(s, peer, a.of.Connector.Config().TakesFrom(peer.Addr()))
	if k == nil {
		return
	}
	if g := (&guest{conn: k, socket: s, from: a}); !a.of.pipeline.Take(a.of.Connector, fd, peer, g) {
		g.TakeBack(fd, nil)
	}
}
