package login

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// The connections that have not logged in are counted in total and by address. An IPv6
// address counts with the others of its /64 (H25).
func TestPrebind(t *testing.T) {
	t.Parallel()
	p := NewPrebind(5, 2)
	enter := func(addr netip.Addr) bool {
		stays, displaced := p.Enter(now, addr, false)
		if displaced {
			t.Error("one was displaced that nobody has")
		}
		return stays
	}
	a, b, near := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for _, address := range []netip.Addr{a, a, b, near} {
		if !enter(address) {
			t.Error("not two for each")
		}
	}
	if enter(a) || enter(b) || enter(near) || enter(netip.MustParseAddr("::ffff:192.0.2.1")) {
		t.Error("more than two")
	}
	p.Leave(nil, a, false)
	if !enter(a) || enter(a) {
		t.Error("not one more after one has left")
	}
	c := netip.MustParseAddr("2001:db8:0:1::1")
	if !enter(c) || enter(c) {
		t.Error("not five together")
	}
	p.Leave(nil, c, false)
	for _, addr := range []netip.Addr{a, a, near} {
		p.Leave(nil, addr, false)
	}
	none := netip.Addr{} // of a client whose proxy has not sent it
	for range 4 {
		if !enter(none) {
			t.Error("no four without an address")
		}
	}
	if enter(none) || enter(a) {
		t.Error("more than five together")
	}
	for _, addr := range []netip.Addr{near, none, none, none, none} {
		p.Leave(nil, addr, false)
	}
	p.isEmpty(t)
}

// isEmpty checks that nothing is counted.
func (p *Prebind) isEmpty(t *testing.T) {
	t.Helper()
	if n := p.all.open + p.requests.open + len(p.byAddress) + len(p.places) + p.order.Len() + len(p.all.displaceable) + len(p.requests.displaceable); n != 0 {
		t.Errorf("left: %+v", p)
	}
}

// Connections of requests have half of the places, so that they leave the others to sessions.
func TestPrebindHalf(t *testing.T) {
	t.Parallel()
	p := NewPrebind(5, 3)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i, want := range []struct {
		request bool
		from    netip.Addr
		entered bool
	}{
		{true, a, true}, {true, a, true}, {true, b, false}, // requests have half
		{false, a, true}, {false, a, false}, // of an address as many as both may have
		{false, b, true}, {false, b, true}, {false, netip.Addr{}, false}, // sessions have the rest
	} {
		if got, _ := p.Enter(now, want.from, want.request); got != want.entered {
			t.Errorf("connection %d from %s: %t", i, want.from, got)
		}
	}
	p.Leave(nil, a, true)
	if stays, _ := p.Enter(now, b, false); !stays {
		t.Error("what requests have left is not free")
	}
	if stays, _ := p.Enter(now, b, true); stays {
		t.Error("more than five together")
	}
	for range 3 {
		p.Leave(nil, b, false)
	}
	p.Leave(nil, a, false)
	p.Leave(nil, a, true)
	p.isEmpty(t)
}

// A line is clients that have not logged in, and who of them was displaced.
type line struct {
	*testing.T
	*Prebind
	now   int64
	ended []string
}

// come opens a connection, and reports whether it stays.
func (l *line) come(name, addr string, request bool) bool {
	at := netip.MustParseAddr(addr)
	stays, _ := l.Enter(l.now, at, request)
	if stays {
		l.Place(l.now, name, at, request, func() { l.ended = append(l.ended, name) })
	}
	return stays
}

// want compares who was displaced.
func (l *line) want(names ...string) {
	l.Helper()
	if fmt.Sprint(l.ended) != fmt.Sprint(names) {
		l.Errorf("%v were displaced, want %v", l.ended, names)
	}
	l.ended = nil
}

// Whoever comes from a network that has few connections finds a place among those of the one that has most, without a wait. Those of the
// others stay, until they are open for two seconds and their network has most.
func TestPrebindDisplaces(t *testing.T) {
	t.Parallel()
	l := &line{T: t, Prebind: NewPrebind(8, 4), now: now}
	l.come("honest", "192.0.2.1", false)
	for i := range 7 {
		l.come(fmt.Sprint("flood ", i), fmt.Sprintf("198.51.100.%d", i), false)
	}
	if l.come("flood 7", "198.51.100.7", false) || !l.come("other", "203.0.113.1", false) {
		t.Error("a flood displaces its own immediately, or nobody else finds a place")
	}
	l.want("flood 0")
	l.now += int64(2 * time.Second)
	if !l.come("flood 8", "198.51.100.8", false) || !l.come("late", "203.0.113.2", false) {
		t.Error("what is open for two seconds makes no room")
	}
	l.want("flood 1", "flood 2")
	l.Leave("flood 1", netip.MustParseAddr("198.51.100.1"), false) // it ends, and counts no more
	l.Leave("honest", netip.MustParseAddr("192.0.2.1"), false)     // it logs in
	if !l.come("again", "192.0.2.1", false) || len(l.ended) != 0 {
		t.Error("the place is not free")
	}
}

// Where every connection comes from another network, the oldest makes room behind its two seconds.
func TestPrebindWide(t *testing.T) {
	t.Parallel()
	l := &line{T: t, Prebind: NewPrebind(4, 4), now: now}
	for i := range 4 {
		l.come(fmt.Sprint(i), fmt.Sprintf("10.0.%d.1", i), false)
		l.now++
	}
	if l.now += int64(2*time.Second) - 5; l.come("early", "192.0.2.1", false) {
		t.Error("it displaces one of less than two seconds")
	}
	if l.now++; !l.come("in time", "192.0.2.1", false) {
		t.Error("it finds no place")
	}
	l.want("0")
}

// A request displaces requests alone where these have their half, and a session whoever is of the network with most.
func TestPrebindOfRequests(t *testing.T) {
	t.Parallel()
	l := &line{T: t, Prebind: NewPrebind(8, 8), now: now}
	for i := range 4 {
		l.come(fmt.Sprint("session ", i), "198.51.100.1", false)
		l.come(fmt.Sprint("request ", i), "203.0.113.1", true)
	}
	if !l.come("request", "192.0.2.1", true) {
		t.Error("no place for a request")
	}
	l.want("request 0")
	if !l.come("session", "192.0.2.1", false) {
		t.Error("no place for a session")
	}
	l.want("session 0")
	for i := range 4 {
		l.Leave(fmt.Sprint("session ", i), netip.MustParseAddr("198.51.100.1"), false)
		l.Leave(fmt.Sprint("request ", i), netip.MustParseAddr("203.0.113.1"), true)
	}
	l.Leave("request", netip.MustParseAddr("192.0.2.1"), true)
	l.Leave("session", netip.MustParseAddr("192.0.2.1"), false)
	l.isEmpty(t)
}

const (
	now    = int64(1_800_000_000_000_000_000)
	second = int64(1e9)
)
