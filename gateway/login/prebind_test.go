package login

import (
	"net/netip"
	"testing"
)

// The connections that have not logged in are counted in total and by address. An IPv6
// address counts with the others of its /64 (H25).
func TestPrebind(t *testing.T) {
	t.Parallel()
	p := NewPrebind(5, 2)
	a, b, near := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for _, address := range []netip.Addr{a, a, b, near} {
		if !p.Enter(address) {
			t.Error("not two for each")
		}
	}
	if p.Enter(a) || p.Enter(b) || p.Enter(near) || p.Enter(netip.MustParseAddr("::ffff:192.0.2.1")) {
		t.Error("more than two")
	}
	p.Leave(a)
	if !p.Enter(a) || p.Enter(a) {
		t.Error("not one more after one has left")
	}
	c := netip.MustParseAddr("2001:db8:0:1::1")
	if !p.Enter(c) || p.Enter(c) {
		t.Error("not five together")
	}
	p.Leave(c)
	for _, addr := range []netip.Addr{a, a, near} {
		p.Leave(addr)
	}
	none := netip.Addr{} // of a client whose proxy has not told it
	for range 4 {
		if !p.Enter(none) {
			t.Error("no four without an address")
		}
	}
	if p.Enter(none) || p.Enter(a) {
		t.Error("more than five together")
	}
	for _, addr := range []netip.Addr{near, none, none, none, none} {
		p.Leave(addr)
	}
	if len(p.byAddress) != 0 || p.open != 0 {
		t.Errorf("%v, %d are still counted", p.byAddress, p.open)
	}
}

const (
	now    = int64(1_800_000_000_000_000_000)
	second = int64(1e9)
)
