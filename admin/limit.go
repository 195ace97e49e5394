package admin

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Limits of the listener. A client that reaches it must not be able to use up the
// gateway's descriptors or memory, or to keep health checks from being answered.
const (
	maxConnections  = 64
	maxPerAddress   = 16 // connections of one IPv4 address or one IPv6 /64
	maxWork         = 16 // requests other than health checks that are served at the same time
	maxWorkPerPlace = 8  // those of one address
)

// A limiter bounds the connections of a listener by closing others: a new connection
// takes the place of the one that has been unused for longest, among those of its own
// address when that has its share, and never of one whose request is being worked on.
// As few requests are worked on together, a new connection always finds a place, and
// a health check is answered however many slow connections there are.
type limiter struct {
	net.Listener

	mu    sync.Mutex
	open  map[*conn]bool
	work  int    // requests being worked on
	clock uint64 // counts uses of connections
}

// A conn is a connection that the limiter knows. The limiter's mu guards its fields.
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

// admit takes a new connection in, and closes another if there are too many.
func (l *limiter) admit(c net.Conn) *conn {
	own := &conn{Conn: c, limiter: l, from: place(c.RemoteAddr())}
	l.mu.Lock()
	last := l.longestUnused(own.from)
	l.clock++
	own.used = l.clock
	l.open[own] = true
	l.mu.Unlock()
	if last != nil {
		_ = last.Close()
	}
	return own
}

// longestUnused returns the connection that must go for one more from that place, or nil.
func (l *limiter) longestUnused(from netip.Prefix) (last *conn) {
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
		if !c.working && (same < maxPerAddress || c.from == from) && (last == nil || c.used < last.used) {
			last = c
		}
	}
	return last
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.limiter.mu.Lock()
	delete(c.limiter.open, c)
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// begin notes that a request of c is being worked on, and reports whether it may be.
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
	if l.work == maxWork || same >= maxWorkPerPlace {
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

// place returns what is counted as one address.
func place(a net.Addr) netip.Prefix {
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

// limited serves h while few other requests are being worked on, and answers 503
// otherwise.
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
