package admin

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"pmg/admin/access"
	"pmg/config"
)

// Limits of the listener. A client must not be able to exhaust the gateway's descriptors
// or memory, or to prevent health checks from being answered.
const (
	maxConnections = 64
	maxWork        = 16 // requests other than health checks that are served concurrently
	maxStreams     = 32 // requests with endless answers that are served concurrently
)

// limiters are the limiters of a server. The socket has a limiter of its own, so that strangers at the
// address do not block the gateway's own user.
type limiters struct{ address, socket *limiter }

func newLimiters() limiters { return limiters{address: newLimiter(), socket: newLimiter()} }

// of returns the limiter of a connection.
func (l limiters) of(c net.Conn) *limiter {
	if c != nil && c.LocalAddr().Network() == "unix" {
		return l.socket
	}
	return l.address
}

// connState is the server's ConnState.
func (l limiters) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		l.of(c).rests(c)
	case http.StateClosed:
		l.of(c).works(c)
	}
}

// limited serves h if the number of requests being served allows it, and otherwise
// answers 503.
func (l limiters) limited(h http.Handler) http.Handler {
	return l.within(func(l *limiter) chan struct{} { return l.work }, h)
}

// streams limits h by the number of endless answers.
func (l limiters) streams(h http.Handler) http.Handler {
	return l.within(func(l *limiter) chan struct{} { return l.streams }, h)
}

func (l limiters) within(places func(*limiter) chan struct{}, h http.Handler) http.Handler {
	served := l.served(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := places(l.of(connOf(r)))
		select {
		case all <- struct{}{}:
			defer func() { <-all }()
			served.ServeHTTP(w, r)
		default:
			http.Error(w, "too many requests are being answered; try again", http.StatusServiceUnavailable)
		}
	})
}

// served serves h without a place. The connection does not count as idle meanwhile.
func (l limiters) served(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r); c != nil {
			l.of(c).works(c)
			defer l.of(c).rests(c)
		}
		h.ServeHTTP(w, r)
	})
}

// connOf returns the connection of a request, nil in tests without a connection.
func connOf(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// A limiter bounds the number of connections, and of requests that are served. If there are too many
// connections, a new one replaces the connection that has been idle for longest, so that slow connections do
// not prevent health checks. A connection whose request is being served is not closed.
type limiter struct {
	work    chan struct{}
	streams chan struct{}

	mu   sync.Mutex
	idle []net.Conn // the connections without a served request, longest idle first
}

func newLimiter() *limiter {
	return &limiter{work: make(chan struct{}, maxWork), streams: make(chan struct{}, maxStreams)}
}

// connKey is the context key of a request's connection.
type connKey struct{}

// connContext is the server's ConnContext.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(access.WithPeer(ctx, c), connKey{}, c)
}

// rests records that a connection is idle, and closes the longest idle one if there are too many.
func (l *limiter) rests(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle = append(l.idle, c); len(l.idle) > maxConnections {
		_ = l.idle[0].Close()
		l.idle = slices.Delete(l.idle, 0, 1)
	}
}

// works records that a connection is not idle any more.
func (l *limiter) works(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = slices.DeleteFunc(l.idle, func(other net.Conn) bool { return other == c })
}

// hostNames returns the host names that the Host of a request may have. Addresses are
// checked by isOwnAddress.
func hostNames(cfg config.Admin) map[string]bool {
	names := map[string]bool{"localhost": true}
	for _, h := range append([]string{cfg.Address}, cfg.Hosts...) {
		if name := hostOf(h); name != "" {
			names[name] = true
		}
	}
	return names
}

// hostOf returns the host of host:port or of a bare host, in lower case.
func hostOf(s string) string {
	if h, _, err := net.SplitHostPort(s); err == nil {
		s = h
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// checkHost refuses requests for the host name of another machine. A web page can point
// its own host name at this address, make a browser on the operator's machine send
// requests to that name, and read the answers (DNS rebinding). It cannot make the
// browser send a Host other than the page's own.
//
// checkHost serves the following hosts : loopback addresses, the address that the connection came to, the
// host of admin.address, the hosts of admin.hosts, and the host to which browsers return from a login
// elsewhere. Requests without a Host are served too, because no browser sends them.
func checkHost(names map[string]bool, back func() string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if host != "" && !names[host] && !isOwnAddress(host, r) && host != hostOf(back()) {
			http.Error(
				w,
				fmt.Sprintf(
					"host %q is not served here; add it to admin.hosts in the configuration if it is this gateway's", host,
				),
				http.StatusMisdirectedRequest,
			)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// isOwnAddress reports whether host is a loopback address or the one that the
// request's connection came to.
func isOwnAddress(host string, r *http.Request) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap().WithZone("") == ip
}
