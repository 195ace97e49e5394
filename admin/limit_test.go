package admin

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// H25: a health check is answered, however many connections send a request slowly or
// not at all.
func TestSlowConnections(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	for n := range 2 * maxConnections {
		c, err := net.Dial("tcp", r.admin.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n%2 == 0 {
			_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: local")) // it may be closed already
		}
	}
	if code, _ := r.get("/healthz"); code != 200 {
		t.Errorf("got %d", code)
	}
}

// A fakeConn has a remote address and records whether it is closed.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}
func (c *fakeConn) Close() error { c.closed = true; return nil }

// H25: a new connection from an address with maxPerAddress connections replaces the one
// of that address that has been idle for longest, and never one that is being served.
func TestConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	l := newLimiter(nil)
	other := &fakeConn{from: "192.0.2.9:1"}
	l.admit(other)
	var fakes []*fakeConn
	var all []*conn
	for range maxPerAddress {
		f := &fakeConn{from: "[2001:db8::1]:1"}
		fakes = append(fakes, f)
		all = append(all, l.admit(f))
	}
	if !all[0].begin() || !all[1].begin() {
		t.Fatal("a request may not be served")
	}
	all[1].end()
	another := &fakeConn{from: "[2001:db8::ffff]:1"} // of the same /64
	l.admit(another)
	for i, f := range fakes {
		if f.closed != (i == 2) {
			t.Errorf("connection %d is closed: %v", i, f.closed)
		}
	}
	if other.closed || another.closed || len(l.open) != maxPerAddress+1 {
		t.Errorf("of another address closed: %v; the new one: %v; %d are open", other.closed, another.closed, len(l.open))
	}
}

// All addresses together have a limit too, and a closed connection makes room again.
func TestConnections(t *testing.T) {
	t.Parallel()
	l := newLimiter(nil)
	var fakes []*fakeConn
	var all []*conn
	for n := range maxConnections {
		f := &fakeConn{from: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}), 1).String()}
		fakes = append(fakes, f)
		all = append(all, l.admit(f))
	}
	l.admit(&fakeConn{from: "198.51.100.1:1"})
	if !fakes[0].closed || fakes[1].closed || len(l.open) != maxConnections {
		t.Errorf("first closed %v, second %v; %d are open", fakes[0].closed, fakes[1].closed, len(l.open))
	}
	_ = all[5].Close()
	l.admit(&fakeConn{from: "198.51.100.1:2"})
	if fakes[1].closed || len(l.open) != maxConnections {
		t.Errorf("closed %v though there was room; %d are open", fakes[1].closed, len(l.open))
	}
}

// H25: the number of requests served at the same time is limited, overall and by
// address. Health checks do not count.
func TestWorkLimit(t *testing.T) {
	t.Parallel()
	l := newLimiter(nil)
	var begun []*conn
	for n := range maxWork + 5 {
		c := l.admit(&fakeConn{from: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(n / 8)}), 1).String()})
		if c.begin() {
			begun = append(begun, c)
		}
	}
	if len(begun) != maxWork {
		t.Errorf("%d requests are served, want %d", len(begun), maxWork)
	}
	code := func() int {
		w := httptest.NewRecorder()
		q := httptest.NewRequest(http.MethodGet, "/status", nil)
		q = q.WithContext(connContext(q.Context(), l.admit(&fakeConn{from: "198.51.100.1:1"})))
		limited(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})).ServeHTTP(w, q)
		return w.Code
	}
	if n := code(); n != http.StatusServiceUnavailable {
		t.Errorf("one request too many: %d", n)
	}
	begun[0].end()
	if n := code(); n != http.StatusOK {
		t.Errorf("with room again: %d", n)
	}
	one := newLimiter(nil)
	for n := range maxWorkPerAddress + 1 {
		if c := one.admit(&fakeConn{from: "192.0.2.1:1"}); c.begin() != (n < maxWorkPerAddress) {
			t.Errorf("request %d of one address: %v", n, n >= maxWorkPerAddress)
		}
	}
}

// A deadlineRecorder is a ResponseWriter that records the deadline that is set.
type deadlineRecorder struct {
	*httptest.ResponseRecorder
	write time.Time
}

func (w *deadlineRecorder) SetWriteDeadline(t time.Time) error { w.write = t; return nil }

// F31: Go's pprof handler extends the write deadline by the duration of a profile. The
// handlers around it must not prevent that.
func TestLongProfile(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), true)
	q := httptest.NewRequest(http.MethodGet, "/debug/pprof/trace?seconds=0.01", nil)
	q.Host = "localhost"
	ctx := context.WithValue(q.Context(), http.ServerContextKey, &r.admin.http)
	ctx = connContext(ctx, r.admin.limiter.admit(&fakeConn{from: "127.0.0.1:1"}))
	w := &deadlineRecorder{ResponseRecorder: httptest.NewRecorder()}
	least := time.Now().Add(timeout + 10*time.Millisecond)
	r.admin.http.Handler.ServeHTTP(w, q.WithContext(ctx))
	if w.Code != 200 || w.write.Before(least) {
		t.Errorf("status %d; the deadline %v is less than %v", w.Code, w.write, least)
	}
}
