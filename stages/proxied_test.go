package stages

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/sock"
	"pmg/internal/testkit/testutil"
	"pmg/stages/flow"
)

const (
	header1    = "PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\r\n"
	header2    = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc6\x33\x64\x07\x7f\x00\x00\x01\x9c\x40\x0a\xd7"
	byProxy    = "proxies: 127.0.0.1, bind_timeout: 10m"
	theClients = "198.51.100.7:40000" // in both
)

// A counting listener counts how often it wakes.
type counting struct {
	*listener
	wakes atomic.Int64
}

func (c *counting) Wait(until time.Time) error {
	err := c.listener.Wait(until)
	c.wakes.Add(1)
	return err
}

// listen runs the listener with a socket for the connector "clients".
func listen(t *testing.T, options string) (*rig, *counting, string) {
	t.Helper()
	stage, err := newListener(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{listener: stage.(*listener)}
	r := newRigWith(t, site{clients: options}, map[int]flow.Stage[Job]{toListener: c})
	c.Deps = r.deps
	s, err := sock.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.send(toListener, Listen, func(j *Job) {
		j.extras = &extras{Connector: r.gateway.Table.Connector("clients"), Sockets: []sock.Listening{s}}
	})
	return r, c, s.Addr.String()
}

func dialed(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

// closed waits until a connection is closed.
func closed(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(testutil.Patience))
	if b, err := io.ReadAll(c); len(b) > 0 {
		t.Errorf("%q came", b)
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Fatal("the connection stays open")
	}
}

// opened waits for a session, and returns its address and what its socket has.
func (r *rig) opened() (remote netip.AddrPort, octets string) {
	r.t.Helper()
	var h *handle
	testutil.Eventually(r.t, "a session begins", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.seen[toReader]) > 0 {
			h = r.seen[toReader][0].Handle
		}
		return h != nil
	})
	var b [100]byte
	n, _ := sock.Read(h.fd, b[:])
	r.await(toReader, 1)
	return h.Remote, string(b[:max(n, 0)])
}

// A session begins behind the header, however that is cut, with the address of the client, and finds all
// that came after the header on its socket.
func TestProxied(t *testing.T) {
	for _, header := range []string{header1, header2} {
		r, c, addr := listen(t, byProxy)
		for cut := range len(header) {
			conn := dialed(t, addr)
			for i, part := range []string{header[:cut], header[cut:] + "PDU"} {
				seen := c.wakes.Load()
				send(t, conn, part)
				if i == 0 && cut > 0 { // the first part is read before the second comes
					testutil.Eventually(t, "the listener wakes", func() bool { return c.wakes.Load() > seen })
				}
			}
			if remote, octets := r.opened(); remote.String() != theClients || octets != "PDU" {
				t.Fatalf("cut after %d: a session of %v, with %q", cut, remote, octets)
			}
			conn.Close()
		}
		r.close()
	}
}

// A header that comes octet by octet wakes the listener once for each, and not at all while nothing comes. A
// connection that others open is as before.
func TestProxiedSleeps(t *testing.T) {
	r, c, addr := listen(t, byProxy)
	slow := dialed(t, addr)
	for n := range 20 {
		send(t, slow, header2[n:n+1])
	}
	const others = 90
	for range others { // each takes its time, in which one that does not sleep wakes many times
		send(t, dialed(t, addr), header1)
		r.opened()
	}
	if n := c.wakes.Load(); n > 2*(others*2+21) {
		t.Errorf("woken %d times for %d events", n, others*2+21)
	}
	send(t, slow, header2[20:])
	if remote, _ := r.opened(); remote.String() != theClients {
		t.Error(remote)
	}
	r.close()
}

// What begins with no header, or is cut, gets no session, and the others do not notice.
func TestProxiedRefused(t *testing.T) {
	r, _, addr := listen(t, byProxy)
	defer r.close()
	for _, octets := range []string{"", "P", header1[:20], header2[:13], header2[:20], header1[:len(header1)-1]} {
		c := dialed(t, addr)
		send(t, c, octets)
		_ = c.(*net.TCPConn).CloseWrite()
		closed(t, c)
	}
	for _, octets := range []string{
		"\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01", "PROXY TCP4 198.51.100.7 127.0.0.1 99999 1\r\n",
		header2[:14] + "\xff\xff", "\x21\x11",
	} {
		c := dialed(t, addr)
		send(t, c, octets)
		closed(t, c)
	}
	send(t, dialed(t, addr), "PROXY UNKNOWN\r\n")
	if remote, _ := r.opened(); remote.Addr() != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("a connection of the proxy itself is of %v", remote)
	}
}

// One whose header is not whole in time is closed, and leaves the instance and the counts as they were.
func TestProxiedInTime(t *testing.T) {
	r, _, addr := listen(t, "proxies: 127.0.0.1, bind_timeout: 100ms, instances: 1")
	defer r.close()
	var all []net.Conn
	for i := range 20 {
		c := dialed(t, addr)
		send(t, c, header2[:i])
		all = append(all, c)
	}
	for _, c := range all {
		closed(t, c)
	}
	send(t, dialed(t, addr), header1)
	r.opened()
}

// Connections without a whole header are closed when their connector listens no longer, and at the end.
func TestProxiedUnlisten(t *testing.T) {
	for _, all := range []bool{false, true} {
		r, _, addr := listen(t, byProxy)
		c := dialed(t, addr)
		send(t, c, header2[:20])
		send(t, dialed(t, addr), header1)
		r.opened()
		if all {
			r.close()
		} else {
			r.send(toListener, Unlisten, func(j *Job) { j.extras = &extras{Connector: r.gateway.Table.Connector("clients")} })
		}
		closed(t, c)
		if !all {
			r.close()
		}
	}
}

// They count towards all connections without a login, and not for the proxy's address. Where too many are open, the one
// that is open for longest makes room, and the address of a client counts when it is known.
func TestProxiedCounts(t *testing.T) {
	r, _, addr := listen(t, byProxy)
	defer r.close()
	limits := r.gateway.Node.Config().Limits
	waiting := limits.PrebindPerAddress + 50
	for range waiting {
		dialed(t, addr)
	}
	first := dialed(t, addr)
	send(t, first, header1)
	r.opened()
	for range limits.PrebindPerAddress - 1 {
		send(t, dialed(t, addr), header1)
		r.opened()
	}
	c := dialed(t, addr)
	send(t, c, header1)
	closed(t, c)
	for range limits.Prebind - limits.PrebindPerAddress - waiting {
		dialed(t, addr)
	}
	dialed(t, addr) // in its place the network that has most has one less
	closed(t, first)
}
