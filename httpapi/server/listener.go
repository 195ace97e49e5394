package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/httpapi/body"
	"pmg/httpapi/conns"
	"pmg/internal/handshakes"
	"pmg/internal/sock"
	"pmg/internal/tlsfiles"
	"pmg/protocols/httpsms"
)

// Limits of a connection.
const (
	maxHeader     = 64 << 10
	headerTimeout = httpsms.HeaderTimeout
	idleTimeout   = httpsms.IdleTimeout
)

// A Listener serves a connector.
type Listener struct {
	rooms     Rooms
	Connector *connector.Connector
	sockets   []net.Listener
	http      http.Server
	open      *conns.Table
	Log       *Log
	bodies    *body.Room
	pipeline  Pipeline // nil: net/http has all requests
}

// Listen opens the sockets of a connector, unless they are open. pipeline may be nil. handler returns the handler of
// the requests.
func Listen(
	rooms Rooms, c *connector.Connector, opened []sock.Listening, bodies *body.Room, pipeline Pipeline,
	handler func(*Listener) http.Handler,
) (*Listener, error) {
	l := &Listener{
		rooms: rooms, Connector: c, open: conns.NewTable(func() int { return c.Config().Instances }), bodies: bodies,
		pipeline: pipeline, Log: NewLog(c, &rooms.Node.Clock),
	}
	for _, o := range opened {
		s, err := o.Listener()
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("cannot start connector %s: %w", c.Name, err)
		}
		l.sockets = append(l.sockets, s)
	}
	if len(opened) == 0 {
		for _, address := range c.Config().AllAddresses() {
			s, err := net.Listen("tcp", address)
			if err != nil {
				l.Close()
				return nil, fmt.Errorf("cannot start connector %s: %w", c.Name, sock.ListenError(address, err))
			}
			l.sockets = append(l.sockets, s)
		}
	}
	l.http = http.Server{
		Handler:           handler(l),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, connOf(c))
		},
		ConnState: connState,
		ErrorLog:  stdlog.New(rooms.Node.Log.With().Str("connector", c.Name).Logger(), "", 0),
	}
	l.http.RegisterOnShutdown(c.Streams.Close)
	return l, nil
}

// Serve begins to serve requests.
func (l *Listener) Serve() {
	for _, s := range l.sockets {
		var in net.Listener = l.admitting(s)
		if l.Connector.TLS() != nil {
			in = &handshakes.Listener{
				Listener: in, Config: &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: l.tlsConfig},
				Turns: l.rooms.Node.Handshakes, Limit: headerTimeout, Log: l.http.ErrorLog,
			}
		}
		go func() { _ = l.http.Serve(in) }() // close ends the goroutine
	}
}

// tlsConfig returns the present configuration when a client connects.
func (l *Listener) tlsConfig(*tls.ClientHelloInfo) (*tls.Config, error) {
	config := l.Connector.TLS().Config("").Clone()
	config.NextProtos = []string{"http/1.1"}
	return config, nil
}

// Addresses returns the addresses of the listener.
func (l *Listener) Addresses() (all []netip.AddrPort) {
	for _, s := range l.sockets {
		if a, ok := s.Addr().(*net.TCPAddr); ok {
			all = append(all, a.AddrPort())
		}
	}
	return all
}

// stopPatience is the time that a stopping connector waits for incomplete headers and bodies.
const stopPatience = time.Second

// drainInterval is the pause between checks whether the pipeline still has a request.
const drainInterval = 10 * time.Millisecond

// Drain accepts no more requests, and waits for running requests until ctx is done.
func (l *Listener) Drain(ctx context.Context) {
	l.open.Stop(stopPatience)
	_ = l.http.Shutdown(ctx)
	t := time.NewTicker(drainInterval)
	defer t.Stop()
	for l.open.Working() > 0 && ctx.Err() == nil { // those of net/http have ended
		<-t.C
	}
}

// Close ends all connections.
func (l *Listener) Close() {
	_ = l.http.Close()
	l.open.Close()
	for _, s := range l.sockets {
		_ = s.Close()
	}
	l.Log.Close()
}

// refuse closes a connection for which there is no room. With again, the client gets an answer that it may retry, without
// reading from the connection.
func (l *Listener) refuse(c net.Conn, again bool) {
	if s, ok := c.(*socket); ok {
		_ = s.become(nil)
	}
	if again && l.Connector.TLS() == nil {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(
			[]byte("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
		)
	}
	_ = c.Close()
}

// A conn is a connection of a client.
type conn struct {
	*conns.Conn
	of     *Listener
	Remote netip.AddrPort // not valid until the PROXY header of the connection has been read
	known  atomic.Bool    // a client has logged in on the connection
	once   sync.Once
	trust  atomic.Pointer[trust]

	allowed atomic.Pointer[string]       // system_id of the account that the plugins let in on this connection; nil: none
	login   atomic.Pointer[checkedLogin] // the latest login by a password; nil: none
	text    atomic.Pointer[string]       // Remote as text, once it was needed
}

// remoteText returns the client's address as text.
func (c *conn) remoteText() string {
	text := c.text.Load()
	if text == nil {
		made := c.Remote.String()
		text = &made
		c.text.Store(text)
	}
	return *text
}

// A trust is the result of checking the certificate of a connection's client.
type trust struct {
	by    *tls.Config
	until time.Time // zero: the certificates are not accepted
}

// trusts reports whether a configuration accepts the certificates that the client has shown. They are checked
// again only after the configuration has changed.
func (c *conn) trusts(by *tls.Config, shown []*x509.Certificate) bool {
	found := c.trust.Load()
	if found == nil || found.by != by {
		found = &trust{by, tlsfiles.ValidUntil(by, shown)}
		c.trust.Store(found)
	}
	return time.Now().Before(found.until)
}

type connKey struct{}

// connOf returns the connection itself, which may be below a connection of TLS.
func connOf(c net.Conn) *conn {
	if t, ok := c.(*handshakes.Conn); ok {
		c = t.NetConn()
	}
	return c.(*conn)
}

// connState is the ConnState of a listener.
func connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateActive:
		connOf(c).Work()
	case http.StateIdle:
		connOf(c).Rest()
	}
}

// LoggedIn records a successful login on the connection, which no longer counts as one before a login.
func (c *conn) LoggedIn() {
	if !c.known.Swap(true) {
		c.of.rooms.Admission.Known(c.of.Connector, c, c.Remote)
	}
}

// displace closes a connection before its login, because another connection needs its place.
func (c *conn) displace() { _ = c.Conn.Conn.Close() }

// RemoteAddr implements net.Conn. It returns the client's address, also behind a proxy.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.Remote) }

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		if c.known.Swap(true) {
			c.of.rooms.Admission.CloseSocket()
		} else {
			c.of.rooms.Admission.Leave(c.of.Connector, c, c.Remote)
		}
	})
	return c.Conn.Close()
}

func addrOf(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		p := t.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}
