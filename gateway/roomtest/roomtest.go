// Package roomtest has what the tests of the gateway's rooms stand on: what all rooms share, made of a
// configuration, with drivers that need no peer.
//
// # Start reading
//
// roomtest.go: Table, and Operator for a configuration.
package roomtest

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
)

// Table returns the table of a configuration, with all that stands below it.
func Table(t testing.TB, yaml string) *route.Table {
	t.Helper()
	return TableOf(t, yaml, func(string) protocols.Driver { return toy.New() })
}

// TableOf returns the table of a configuration with the drivers of protocols.
func TableOf(t testing.TB, yaml string, driver func(protocol string) protocols.Driver) *route.Table {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp", "ucp"}})
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(cfg, zerolog.Nop())
	n.Memory.SetLimit(1 << 30)
	tb := route.NewTable(n, keep.New(n), login.NewDesk(n), nil)
	var all []*connector.Connector
	for i := range cfg.Connectors {
		d := driver(cfg.Connectors[i].Protocol)
		c := connector.New(i, &cfg.Connectors[i], d, &n.Memory)
		c.Protocol = d.Protocol()
		all = append(all, c)
	}
	tb.SetConnectors(all)
	tb.Apply(cfg)
	return tb
}

// Operator is a configuration with the connectors "clients" and "operator". The latter gets the
// given options.
func Operator(options string) string {
	return fmt.Sprintf(`
pdulog: {enabled: false}
accounts:
  - {system_id: client, password: secret, max_schedule: 1h, max_scheduled: 2}
  - {system_id: other, password: secret}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
routes: [{to: operator}]
`, options)
}
