// Package handshakes bounds how many handshakes of HTTPS are computed at a time. The networks of the clients take turns.
//
// # Start reading
//
// handshakes.go.
package handshakes

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"pmg/internal/turns"
)

// A Listener accepts connections of TLS for net/http. The handshake of a connection is made when net/http begins to serve it.
type Listener struct {
	net.Listener // listener for the connections below TLS
	Config       *tls.Config
	Turns        *turns.Turns[netip.Prefix]
	Limit        time.Duration // limit of the time for a handshake, including the wait for turns
	Log          *log.Logger   // log of failed handshakes
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c, turns: l.Turns, shakes: true, gone: make(chan struct{})}
	return &Conn{Conn: tls.Server(s, l.Config), of: l, socket: s}, nil
}

// A Conn is a TLS connection for net/http, which makes no handshake of its own on it.
type Conn struct {
	*tls.Conn
	of     *Listener
	socket *socket
	once   sync.Once
	failed bool
}

// ConnectionState makes the handshake, if necessary, and returns the state after it. net/http calls it on the
// goroutine of the connection, before it reads a request.
func (c *Conn) ConnectionState() tls.ConnectionState {
	c.once.Do(c.shake)
	return c.Conn.ConnectionState()
}

// NetConn returns the connection that the listener below TLS has accepted.
func (c *Conn) NetConn() net.Conn { return c.socket.Conn }

// Read implements net.Conn. After a failed handshake it returns no data: net/http then ends without an answer.
func (c *Conn) Read(b []byte) (int, error) {
	if c.failed {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

// Close implements net.Conn. It also ends a handshake that waits for its turn.
func (c *Conn) Close() error {
	c.socket.leave()
	return c.Conn.Close()
}

func (c *Conn) shake() {
	late := time.AfterFunc(c.of.Limit, c.socket.leave)
	defer late.Stop()
	_ = c.Conn.SetDeadline(time.Now().Add(c.of.Limit))
	err := c.Conn.HandshakeContext(context.Background())
	c.socket.end()
	if err == nil {
		_ = c.Conn.SetDeadline(time.Time{})
		return
	}
	c.failed = true
	c.of.Log.Printf("http: TLS handshake error from %s: %v", c.RemoteAddr(), c.explain(err)) // in the form of net/http
	_ = c.Close()
}

// explain returns the reason why a handshake has failed. A client that speaks HTTP gets an answer with the reason.
func (c *Conn) explain(err error) error {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil || !isHTTP(header.RecordHeader) {
		return err
	}
	_, _ = io.WriteString(c.NetConn(), "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	return errors.New("client sent an HTTP request to an HTTPS server")
}

// isHTTP reports whether the octets in place of a TLS record begin an HTTP request.
func isHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}

// A socket is the connection below TLS. Whoever makes the handshake has a turn while he computes, and none while he waits
// for the peer.
type socket struct {
	net.Conn
	turns  *turns.Turns[netip.Prefix]
	shakes bool // the handshake is running; shakes and has belong to the goroutine of the handshake
	has    bool // a turn
	gone   chan struct{}
	once   sync.Once
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) {
	s.give()
	n, err := s.Conn.Read(b)
	if err == nil {
		err = s.take()
	}
	return n, err
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	s.give()
	n, err := s.Conn.Write(b)
	if err == nil {
		err = s.take()
	}
	return n, err
}

// take waits for a turn, if the handshake is being made.
func (s *socket) take() error {
	if !s.shakes {
		return nil
	}
	if !s.turns.Take(turns.Network(addrOf(s.RemoteAddr())), s.gone) {
		return os.ErrDeadlineExceeded
	}
	s.has = true
	return nil
}

// give gives the turn back.
func (s *socket) give() {
	if s.has {
		s.has = false
		s.turns.Give()
	}
}

// end records that no more handshake is made.
func (s *socket) end() {
	s.give()
	s.shakes = false
}

// leave ends the wait for a turn.
func (s *socket) leave() { s.once.Do(func() { close(s.gone) }) }

func addrOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr()
	}
	return netip.Addr{}
}
