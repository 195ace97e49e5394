package session_test

import (
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/store"
)

// now is an arbitrary time.
const now = int64(1_800_000_000_000_000_000)

const second = int64(1_000_000_000)

// start makes a gateway with the connectors "clients" and "operator". The latter gets the
// given options.
func start(t testing.TB, options string) (g *gateway.Gateway, clients, operator *connector.Connector) {
	t.Helper()
	g = startWith(t, roomtest.Operator(options))
	return g, g.Table.Connector("clients"), g.Table.Connector("operator")
}

// startWith makes a gateway with a configuration.
func startWith(t testing.TB, yaml string) *gateway.Gateway {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Keeper.Batches.Close() })
	return g
}

// idle is an architecture in which nothing listens and no session is logged out.
type idle struct{ gateway.Service }

func (idle) Logout(func(*connector.Link) bool) {}

// reload puts a configuration in force.
func (p *port) reload(cfg *config.Config) {
	p.t.Helper()
	if _, err := p.g.Reload(cfg, idle{}); err != nil {
		p.t.Fatal(err)
	}
}

// record makes a gateway log into memory, at level info and above.
func record(g *gateway.Gateway) *testutil.Log {
	var b testutil.Log
	g.Node.Log = zerolog.New(&b).Level(zerolog.InfoLevel)
	return &b
}

// withEvents makes the port's gateway write events, and returns their directory.
func (p *port) withEvents(s store.Store) (dir string) {
	p.t.Helper()
	dir = filepath.Join(p.t.TempDir(), "events")
	cfg := *p.g.Node.Config()
	cfg.Events.Dir = dir
	p.g.Node.SetConfig(&cfg)
	if err := p.g.Keep(s); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.g.Settler.Events.Writer.Close() }) // so that nobody writes when the directory is removed
	return dir
}
