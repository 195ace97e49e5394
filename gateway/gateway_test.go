package gateway

import (
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/store"
)

// now is an arbitrary time.
const now = int64(1_800_000_000_000_000_000)

const second = int64(1_000_000_000)

// start makes a gateway with the connectors "clients" and "operator". The latter gets the
// given options.
func start(t testing.TB, options string) (g *Gateway, clients, operator *connector.Connector) {
	t.Helper()
	g = startWith(t, roomtest.Operator(options))
	return g, g.Table.Connector("clients"), g.Table.Connector("operator")
}

// startWith makes a gateway with a configuration.
func startWith(t testing.TB, yaml string) *Gateway {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Keeper.Batches.Close() })
	return g
}

// A rig is a gateway without an engine, whose clock the test moves.
type rig struct {
	t        *testing.T
	g        *Gateway
	operator *connector.Connector
	now      int64
}

func newRig(t *testing.T, g *Gateway) *rig {
	r := &rig{t: t, g: g, operator: g.Table.Connector("operator"), now: now}
	g.Node.Clock.EngineClock = func() int64 { return r.now }
	return r
}

func startRig(t *testing.T) *rig {
	t.Helper()
	g, _, _ := start(t, "")
	return newRig(t, g)
}

// An engineNow is an engine whose lanes run immediately.
type engineNow struct {
	Engine
}

func (e *engineNow) Do(_ *connector.Lane, f func(now int64)) bool {
	f(now)
	return true
}

func (*engineNow) Committed(store.Position, error) {}
