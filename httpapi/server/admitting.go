package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/internal/proxyheader"
	"pmg/internal/sock"
)

// An admitting listener accepts connections while their connector has room for them, and closes others before reading from
// them. A connection of a proxy is read on a goroutine of its own until its PROXY header is whole, so that it does not delay
// other connections, and is accepted afterwards.
type admitting struct {
	net.Listener
	file    *os.File // the listening socket, if the pipeline takes connections; otherwise nil
	of      *Listener
	results chan accepted // results that Accept returns
	work    sync.WaitGroup
	ctx     context.Context
	end     context.CancelFunc
}

// An accepted is a result of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

// admitting begins to accept connections on a socket.
func (l *Listener) admitting(s net.Listener) *admitting {
	a := &admitting{Listener: s, of: l, results: make(chan accepted)}
	a.ctx, a.end = context.WithCancel(context.Background())
	if t, ok := s.(*net.TCPListener); ok && l.pipeline != nil && l.Connector.TLS() == nil {
		a.file, _ = t.File() // without it net/http has all connections
	}
	a.work.Go(a.run)
	return a
}

// Accept implements net.Listener.
func (a *admitting) Accept() (net.Conn, error) {
	select {
	case r := <-a.results:
		return r.conn, r.err
	case <-a.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It ends the wait for headers, too.
func (a *admitting) Close() error {
	a.end()
	err := a.Listener.Close()
	if a.file != nil {
		_ = a.file.Close()
	}
	a.work.Wait()
	return err
}

// give passes r to Accept. It returns false if the listener is closed instead.
func (a *admitting) give(r accepted) bool {
	select {
	case a.results <- r:
		return true
	case <-a.ctx.Done():
		return false
	}
}

func (a *admitting) run() {
	if a.file != nil {
		a.acceptSockets()
		return
	}
	for {
		c, err := a.Listener.Accept()
		if err == nil {
			a.admit(c)
		} else if !a.give(accepted{err: err}) {
			return
		}
	}
}

// admit admits a connection, or closes it.
func (a *admitting) admit(c net.Conn) {
	l, peer := a.of, addrOf(c.RemoteAddr())
	cfg := l.Connector.Config()
	if cfg.IsProxy(peer.Addr()) {
		if k := a.enter(c, l.rooms.Admission.AdmitProxy, peer, netip.AddrPort{}, true); k != nil {
			a.work.Go(func() { a.admitClient(k, peer) })
		}
		return
	}
	if k := a.place(c, peer, cfg.TakesFrom(peer.Addr())); k != nil && !a.give(accepted{conn: k}) {
		_ = k.Close()
	}
}

// place admits the connection of a client. It returns nil if it has closed it.
func (a *admitting) place(c net.Conn, peer netip.AddrPort, again bool) *conn {
	l := a.of
	k := a.enter(c, l.rooms.Admission.Admit, peer, peer, again)
	if k != nil {
		l.rooms.Admission.Place(l.Connector, k, peer, k.displace)
	}
	return k
}

// enter counts a connection of a peer, if admit and the table have room for it. Otherwise it closes the connection and returns
// nil. again is whether the answer to the peer is that it may try again.
func (a *admitting) enter(
	c net.Conn, admit func(*connector.Connector, netip.AddrPort) bool, peer, remote netip.AddrPort, again bool,
) *conn {
	l := a.of
	if !admit(l.Connector, peer) {
		l.refuse(c, again)
		return nil
	}
	one := l.open.Enter(c, account.Host(remote.Addr()))
	if one == nil {
		l.rooms.Admission.Leave(l.Connector, nil, remote)
		l.rooms.Admission.NoInstance(l.Connector)
		l.refuse(c, true)
		return nil
	}
	return &conn{Conn: one, of: l, Remote: remote}
}

// admitClient admits the client named in the PROXY header of a connection, after the first octet behind the header, or closes
// the connection. Most health checks of proxies end before that octet.
func (a *admitting) admitClient(c *conn, proxy netip.AddrPort) {
	l := a.of
	raw := c.Conn.Conn
	goOn := context.AfterFunc(a.ctx, func() { _ = raw.Close() })
	defer goOn()
	client, err := l.readClient(raw, proxy)
	if err != nil {
		if err != errNobody && a.ctx.Err() == nil {
			l.rooms.Admission.NoHeader(l.Connector, proxy, err)
		}
		_ = c.Close()
		return
	}
	l.rooms.Admission.Leave(l.Connector, nil, netip.AddrPort{})
	if !l.rooms.Admission.Admit(l.Connector, client) {
		l.refuse(c.Conn, l.Connector.Config().TakesFrom(client.Addr()))
		return
	}
	if c.Remote = client; !c.From(account.Host(client.Addr())) {
		l.rooms.Admission.NoInstance(l.Connector)
		l.refuse(c, true)
		return
	}
	l.rooms.Admission.Place(l.Connector, c, client, c.displace)
	if n, _ := peek(raw, make([]byte, 1)); n == 0 || !goOn() || !a.give(accepted{conn: c}) {
		_ = c.Close()
	}
}

// errNobody means that a proxy has connected only for a health check.
var errNobody = errors.New("nobody")

// readClient reads the PROXY header of a connection and returns the address of its client, which is the
// proxy's own if the header says so. The rest of the login must come within the same time.
func (l *Listener) readClient(c net.Conn, proxy netip.AddrPort) (client netip.AddrPort, err error) {
	cfg := l.Connector.Config()
	_ = c.SetReadDeadline(time.Now().Add(cfg.BindTimeout))
	header, err := readHeader(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("only %d octets have come in %v", len(header), cfg.BindTimeout)
	}
	if err != nil {
		return client, err
	}
	if client, err = proxyheader.Client(header); err != nil || client.IsValid() {
		return client, err
	}
	if !cfg.TakesFrom(proxy.Addr()) { // the proxy connects again for each health check
		return client, errNobody
	}
	return proxy, nil
}

// readHeader reads a PROXY header, and none of the following octets, which belong to TLS or HTTP. With an
// error it returns the part of the header that has come.
func readHeader(c net.Conn) ([]byte, error) {
	var buf [proxyheader.MaxHeader]byte
	for n := 0; ; {
		got, err := peek(c, buf[n:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return buf[:n], err
		case got == 0 && n == 0:
			return nil, errNobody
		case got == 0:
			return buf[:n], fmt.Errorf("it ends after %d octets", n)
		}
		extent, whole, err := proxyheader.Extent(buf[:n+got])
		if err != nil {
			return buf[:n], err
		}
		_, _ = io.ReadFull(c, buf[n:extent]) // these octets have already come
		if n = extent; whole {
			return buf[:n], nil
		}
	}
}

// peek waits for octets of a connection and copies them to b, without removing them. It returns 0 at the end of the
// connection, and with an error.
func peek(c net.Conn, b []byte) (n int, err error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, failed = sock.Peek(int(fd), b)
		return failed != unix.EAGAIN
	})
	return max(n, 0), errors.Join(err, failed)
}
