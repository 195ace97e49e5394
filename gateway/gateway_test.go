package gateway

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// now is an arbitrary time.
const now = int64(1_800_000_000_000_000_000)

const second = int64(1_000_000_000)

// A driver implements as much of a protocol as these tests need.
type driver struct{ protocols.Driver }

func (driver) Commands() []string                                          { return nil }
func (driver) NewSession(protocols.SessionOptions) protocols.Session       { return &session{} }
func (driver) StatusName(uint32) string                                    { return "" }
func (driver) Name() string                                                { return "smpp" }
func (driver) Protocol() sms.Protocol                                      { return protocols.SMPP }
func (driver) Losses() []protocols.Loss                                    { return nil }
func (driver) Leave(*sms.Message) (lost protocols.Lost)                    { return lost }
func (driver) Lacks(*sms.Message, protocols.Options) (lost protocols.Lost) { return lost }

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
	g, err := New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return driver{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return g
}
