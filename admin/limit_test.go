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

// H25: any number of connections that send a request slowly, or none, does not keep a
// health check from being answered.
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

// A fakeConn comes from an address and notes whether it is closed.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}
func (c *fakeConn) Close() error { c.closed = true; return nil }

// H25: an address that has its share loses its own connections for new ones, the one
// unused for longest first, and never one that is being worked on.
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
		t.Fatal("a request may not be worked on")
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

// All addresses together have a limit, too, and what is closed leaves room again.
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

// H25: few requests are worked on together, fewer of one address; a health check is not
// counted.
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
		t.Errorf("%d requests are worked on, want %d", len(begun), maxWork)
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
	for n := range maxWorkPerPlace + 1 {
		if c := one.admit(&fakeConn{from: "192.0.2.1:1"}); c.begin() != (n < maxWorkPerPlace) {
			t.Errorf("request %d of one address: %v", n, n >= maxWorkPerPlace)
		}
	}
}

// A deadlined ResponseWriter notes the deadline that is set.
type deadlined struct {
	*httptest.ResponseRecorder
	write time.Time
}

func (w *deadlined) SetWriteDeadline(t time.Time) error { w.write = t; return nil }

// F31: a profile puts off the time to write an answer by its own duration, which pprof
// of Go 1.26 does itself. The handlers around it leave it the means to.
func TestLongProfile(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), true)
	q := httptest.NewRequest(http.MethodGet, "/debug/pprof/trace?seconds=0.01", nil)
	q.Host = "localhost"
	ctx := context.WithValue(q.Context(), http.ServerContextKey, &r.admin.http)
	ctx = connContext(ctx, r.admin.limiter.admit(&fakeConn{from: "127.0.0.1:1"}))
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	least := time.Now().Add(timeout + 10*time.Millisecond)
	r.admin.http.Handler.ServeHTTP(w, q.WithContext(ctx))
	if w.Code != 200 || w.write.Before(least) {
		t.Errorf("status %d; the deadline %v is less than %v", w.Code, w.write, least)
	}
}
