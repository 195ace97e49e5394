package session_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
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
	return g, g.Connector("clients"), g.Connector("operator")
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
	t.Cleanup(func() { g.Committer.Close() })
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

// occupy takes n places of a share and no memory, or, if n is negative, gives them back.
func occupy(s *connector.Share, n int64) {
	var m sms.Message
	s.Use(-n * m.Size())
	for ; n > 0; n-- {
		s.Enter(&m, 0)
	}
	for ; n < 0; n++ {
		s.Leave(&m)
	}
}

// made returns what a gateway has made that its lanes have not been given yet.
func made(g *gateway.Gateway) []keep.Own {
	all, _ := g.Outgoing.Waiting()
	return all
}

// record makes a gateway log into memory, at level info and above.
func record(g *gateway.Gateway) *bytes.Buffer {
	var b bytes.Buffer
	g.Log = zerolog.New(&b).Level(zerolog.InfoLevel)
	return &b
}

// withEvents makes the port's gateway write events, and returns their directory.
func (p *port) withEvents(s store.Store) (dir string) {
	p.t.Helper()
	dir = filepath.Join(p.t.TempDir(), "events")
	cfg := *p.g.Config()
	cfg.Events.Dir = dir
	p.g.SetConfig(&cfg)
	if err := p.g.Keep(s, nil); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.g.Settler.Events.Writer.Close() }) // so that nobody writes when the directory is removed
	return dir
}
