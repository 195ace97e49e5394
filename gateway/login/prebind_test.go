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

// Connections of requests have half of the places, so that they leave the others to sessions.
func TestPrebindHalf(t *testing.T) {
	t.Parallel()
	all := NewPrebind(5, 3)
	half := all.half()
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i, want := range []struct {
		of      *Prebind
		from    netip.Addr
		entered bool
	}{
		{half, a, true}, {half, a, true}, {half, b, false}, // requests have half
		{all, a, true}, {all, a, false}, // of an address as many as both may have
		{all, b, true}, {all, b, true}, {all, netip.Addr{}, false}, // sessions have the rest
	} {
		if got := want.of.Enter(want.from); got != want.entered {
			t.Errorf("connection %d from %s: %t", i, want.from, got)
		}
	}
	half.Leave(a)
	if !all.Enter(b) || half.Enter(b) {
		t.Error("what requests have left is not free")
	}
	for range 3 {
		all.Leave(b)
	}
	all.Leave(a)
	half.Leave(a)
	if all.open+half.open+len(all.byAddress)+len(half.byAddress) != 0 {
		t.Errorf("%d and %d are left", all.open, half.open)
	}
}

const (
	now    = int64(1_800_000_000_000_000_000)
	second = int64(1e9)
)
