package admin

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Limits of the listener. A client must not be able to exhaust the gateway's descriptors
// or memory, or to prevent health checks from being answered.
const (
	maxConnections    = 64
	maxPerAddress     = 16 // connections of one IPv4 address or one IPv6 /64
	maxWork           = 16 // requests other than health checks that are served at the same time
	maxWorkPerAddress = 8  // the same, of one address
)

// A limiter bounds the number of connections of a listener. A new connection replaces
// the one that has been idle for longest, or if its address has maxPerAddress
// connections, the one of that address that has been idle for longest. A connection
// whose request is being served is not closed. Because only few requests are served at
// the same time, there is always an idle connection to close, and a health check is
// answered however many slow connections there are.
type limiter struct {
	net.Listener

	mu    sync.Mutex
	open  map[*conn]bool
	work  int    // requests being served
	clock uint64 // counts uses of connections
}

// A conn is a connection that the limiter accepted. The limiter's mu guards its fields.
type conn struct {
	net.Conn
	limiter *limiter
	from    netip.Prefix
	working bool
	used    uint64 // when it was opened or its last request ended, by the limiter's clock
}

func newLimiter(l net.Listener) *limiter { return &limiter{Listener: l, open: map[*conn]bool{}} }

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.admit(c), nil
}

// admit adds a new connection, and closes another if there are too many.
func (l *limiter) admit(c net.Conn) *conn {
	admitted := &conn{Conn: c, limiter: l, from: addressOf(c.RemoteAddr())}
	l.mu.Lock()
	victim := l.longestIdle(admitted.from)
	l.clock++
	admitted.used = l.clock
	l.open[admitted] = true
	l.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return admitted
}

// longestIdle returns the connection to close so that there is room for one more from
// that address, or nil if there is room.
func (l *limiter) longestIdle(from netip.Prefix) (victim *conn) {
	same := 0
	for c := range l.open {
		if c.from == from {
			same++
		}
	}
	if same < maxPerAddress && len(l.open) < maxConnections {
		return nil
	}
	for c := range l.open {
		if !c.working && (same < maxPerAddress || c.from == from) && (victim == nil || c.used < victim.used) {
			victim = c
		}
	}
	return victim
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.limiter.mu.Lock()
	delete(c.limiter.open, c)
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// begin records that a request of c is being served, and reports whether it may be.
func (c *conn) begin() bool {
	l := c.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for other := range l.open {
		if other.working && other.from == c.from {
			same++
		}
	}
	if l.work == maxWork || same >= maxWorkPerAddress {
		return false
	}
	l.work++
	c.working = true
	return true
}

func (c *conn) end() {
	l := c.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.work--
	l.clock++
	c.working, c.used = false, l.clock
}

// addressOf returns the prefix that counts as one address.
func addressOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// connKey is the context key of a request's *conn.
type connKey struct{}

// connContext is the server's ConnContext.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// limited serves h if the number of requests being served allows it, and otherwise
// answers 503.
func limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*conn)
		if !ok {
			h.ServeHTTP(w, r)
			return
		}
		if !c.begin() {
			http.Error(w, "too many requests are being answered; try again", http.StatusServiceUnavailable)
			return
		}
		defer c.end()
		h.ServeHTTP(w, r)
	})
}
