package session_test

import (
	"net/netip"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/gateway/session"
	"pmg/protocols/prototest/toy"
	"pmg/store"
)

// Clients leave some descriptors for our own connections (H16).
func TestLimitDescriptors(t *testing.T) {
	shared := node.New(&config.Config{}, zerolog.Nop())
	logins := login.New(shared, hooks.New(nil))
	logins.Prebind = login.NewPrebind(100, 100)
	keeper := keep.New(shared)
	keeper.Open(store.NewMemory(), func(store.Position, error) {})
	defer keeper.Close()
	d := session.New(shared, keeper, route.NewTable(shared, keeper, logins, nil, nil), logins, nil, nil, nil, nil)
	c := connector.New(0, &config.Connector{Name: "clients"}, toy.New(), &shared.Memory)
	remote := netip.MustParseAddrPort("192.0.2.1:1")
	for limit, want := range map[int]int{10: 2, 100: 36, 200: 136} {
		d.LimitDescriptors(limit)
		n := 0
		for d.Admit(c, remote) && n < 1000 {
			n++
			logins.Prebind.Leave(nil, remote.Addr(), false) // it has logged in
		}
		if n != min(want, 1000) {
			t.Errorf("clients may have %d of %d descriptors, want %d", n, limit, want)
		}
		for range n {
			logins.Prebind.Enter(0, remote.Addr(), false)
			d.Leave(c, nil, remote)
		}
	}
}
