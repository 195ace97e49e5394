package gateway

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// now is an arbitrary time.
const now = int64(1_800_000_000_000_000_000)

const second = int64(1_000_000_000)

// start makes a gateway with the connectors "clients" and "operator". The latter gets the
// given options.
func start(t testing.TB, options string) (g *Gateway, clients, operator *connector.Connector) {
	t.Helper()
	g = startWith(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts:
  - {system_id: client, password: secret, max_schedule: 1h, max_scheduled: 2}
  - {system_id: other, password: secret}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
routes: [{to: operator}]
`, options))
	return g, g.Connector("clients"), g.Connector("operator")
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
	return g
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
func made(g *Gateway) []keep.Own {
	all, _ := g.Outgoing.Waiting()
	return all
}
