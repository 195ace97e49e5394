package admin

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// Limits of the listener. A client must not be able to exhaust the gateway's descriptors
// or memory, or to prevent health checks from being answered.
const (
	maxConnections = 64
	maxWork        = 16 // requests other than health checks that are served at the same time
)

// A limiter bounds the number of connections, and of requests that are served. A new
// connection replaces the oldest one where there are too many, so that a health check is
// answered however many slow connections there are.
type limiter struct {
	work chan struct{}

	mu   sync.Mutex
	open []net.Conn // the oldest first
}

func newLimiter() *limiter { return &limiter{work: make(chan struct{}, maxWork)} }

// connState is the server's ConnState.
func (l *limiter) connState(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		l.open = append(l.open, c)
		if len(l.open) > maxConnections {
			_ = l.open[0].Close()
			l.open = slices.Delete(l.open, 0, 1)
		}
	case http.StateClosed:
		l.open = slices.DeleteFunc(l.open, func(other net.Conn) bool { return other == c })
	}
}

// limited serves h if the number of requests being served allows it, and otherwise
// answers 503.
func (l *limiter) limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case l.work <- struct{}{}:
			defer func() { <-l.work }()
			h.ServeHTTP(w, r)
		default:
			http.Error(w, "too many requests are being answered; try again", http.StatusServiceUnavailable)
		}
	})
}
