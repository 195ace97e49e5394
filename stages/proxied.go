package stages

import (
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/internal/proxyheader"
	"pmg/internal/sock"
	"pmg/stages/flow"
)

// A proxied connection is one that a proxy has opened, and whose PROXY header is not whole yet. Its session
// begins behind the header, with the address of the client, so that the other stages never see the proxy's address.
//
//	accepted ──header──► whole ──► session
//	   └── cut, malformed, not whole in time, no longer listening ──► closed
//
// Octets of the header are taken off the socket as they come, and no others. So the poller, which is
// level-triggered, reports a connection once for each piece of its header, and TLS or the first PDU finds
// its octets on the socket.
type proxied struct {
	instance *connector.Instance
	fd       int
	proxy    netip.AddrPort
	opened   int64
	until    int64 // when the connection is closed if its header is not complete
	header   []byte
}

// expect waits for the PROXY header of a connection.
func (l *listener) expect(out *flow.Out[Job], i *connector.Instance, fd int, from netip.AddrPort) {
	limit := i.Connector.Config().BindTimeout
	p := &proxied{instance: i, fd: fd, proxy: from, opened: out.Now(), until: out.Now() + int64(limit)}
	l.proxied[fd] = p
	if err := l.poller.Add(fd, true, false); err != nil {
		l.drop(p, err)
		return
	}
	out.TickIn(limit)
}

// readHeader reads the part of a header that has arrived.
func (l *listener) readHeader(out *flow.Out[Job], p *proxied) {
	b := append(l.buf[:0], p.header...)
	n, err := sock.Peek(p.fd, l.buf[len(b):])
	if err == unix.EAGAIN {
		return
	}
	if n <= 0 { // a peer that has sent nothing only checks whether the port listens
		if err = nil; len(p.header) > 0 {
			err = fmt.Errorf("it ends after %d octets", len(p.header))
		}
		l.drop(p, err)
		return
	}
	extent, whole, err := proxyheader.Extent(l.buf[:len(b)+n])
	if err != nil {
		l.drop(p, err)
		return
	}
	_, _ = sock.Read(p.fd, l.buf[len(b):extent]) // the octets were peeked before, so the read does not fail
	p.header = append(p.header, l.buf[len(b):extent]...)
	if whole {
		l.admit(out, p)
	}
}

// admit begins the session of a client whose header is complete.
func (l *listener) admit(out *flow.Out[Job], p *proxied) {
	client, err := proxyheader.Client(p.header)
	if err != nil {
		l.drop(p, err)
		return
	}
	c := p.instance.Connector
	if !client.IsValid() {
		client = p.proxy
		if !c.Config().TakesFrom(client.Addr()) { // this peer only checks regularly whether the gateway is alive
			l.drop(p, nil)
			return
		}
	}
	l.forget(p)
	if l.Gateway.Sessions.Admit(c, client) {
		l.begin(out, p.instance, admitted{p.fd, client, nil}, p.opened)
		return
	}
	l.refuse(p.instance, p.fd)
	l.resume(c)
}

// forget ends the wait for the header of a connection.
func (l *listener) forget(p *proxied) {
	_ = l.poller.Remove(p.fd)
	delete(l.proxied, p.fd)
	l.Gateway.Sessions.Leave(p.instance.Connector, nil, netip.AddrPort{})
}

// drop closes a connection without a session. If err is nil, nothing is logged.
func (l *listener) drop(p *proxied, err error) {
	if err != nil {
		l.Gateway.Sessions.NoHeader(p.instance.Connector, p.proxy, err)
	}
	l.forget(p)
	l.refuse(p.instance, p.fd)
	l.resume(p.instance.Connector)
}

// expire closes the connections whose headers are late. It returns the time until the next header
// is late, or 0 if no connection waits.
func (l *listener) expire(now int64) (next time.Duration) {
	for _, p := range l.proxied {
		left := time.Duration(p.until - now)
		if left <= 0 {
			limit := time.Duration(p.until - p.opened)
			l.drop(p, fmt.Errorf("only %d octets have come in %v", len(p.header), limit))
		} else if next == 0 || left < next {
			next = left
		}
	}
	return next
}

// dropAll closes the connections of a connector that wait for their headers. If the connector is
// nil, it closes those of all connectors.
func (l *listener) dropAll(c *connector.Connector) {
	for _, p := range l.proxied {
		if c == nil || p.instance.Connector == c {
			l.drop(p, nil)
		}
	}
}
