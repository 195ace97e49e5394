package route

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// newTable makes the table of a configuration.
func newTable(t *testing.T, yaml string) *Table {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp", "http"}})
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(cfg, zerolog.Nop())
	n.Memory.SetLimit(1 << 30)
	logins := login.New(n, hooks.New(nil))
	logins.SetAccounts(account.NewTable(cfg, account.NewRegistry()))
	tb := NewTable(n, keep.New(n), logins, nil, func(*connector.Lane) {})
	var all []*connector.Connector
	for i := range cfg.Connectors {
		c := connector.New(i, &cfg.Connectors[i], toy.New(), &n.Memory)
		c.Protocol = protocols.SMPP
		all = append(all, c)
	}
	tb.SetConnectors(all)
	tb.Apply(cfg, nil)
	return tb
}

// trio makes a table with the out connectors a, b and c, which are up, and one route.
func trio(t *testing.T, to string) *Table {
	yaml := "pdulog: {enabled: false}\naccounts: [{system_id: client, password: secret}]\nconnectors:\n" +
		"  - {name: clients, direction: in, address: \"127.0.0.1:0\"}\n"
	for _, name := range []string{"a", "b", "c"} {
		yaml += fmt.Sprintf("  - {name: %s, direction: out, address: \"127.0.0.1:1\", system_id: pmg, password: secret, static: false}\n", name)
	}
	return newTable(t, yaml+"routes: [{to: "+to+"}]\n")
}

// submitted returns a message that a client has submitted.
func submitted(tb *Table) *sms.Message {
	m := &sms.Message{ID: 7, Origin: tb.node.Origins.Of("client", "clients")}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	return m
}
