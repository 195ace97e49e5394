// Package roomtest makes what the tests of the gateway's rooms share: a node of a configuration, with
// drivers that need no peer.
//
// # Start reading
//
// roomtest.go: New, and Operator for a configuration.
package roomtest

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
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/store"
)

// A Ground is what all rooms share.
type Ground struct {
	Node   *node.Node
	Keeper *keep.Keeper
	Table  *route.Table
}

// New makes the ground of a configuration.
func New(t testing.TB, yaml string) *Ground {
	t.Helper()
	return With(t, yaml, func(string) protocols.Driver { return toy.New() })
}

// With makes the ground of a configuration with the drivers of protocols.
func With(t testing.TB, yaml string, driver func(protocol string) protocols.Driver) *Ground {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp", "ucp", "http"}})
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(cfg, zerolog.Nop())
	n.Memory.SetLimit(1 << 30)
	k := keep.New(n)
	k.Open(store.NewMemory(), func(store.Position, error) {})
	tb := route.NewTable(n, k, login.New(n, hooks.New(nil)), nil, func(*connector.Lane) {})
	var all []*connector.Connector
	for i := range cfg.Connectors {
		d := driver(cfg.Connectors[i].Protocol)
		c := connector.New(i, &cfg.Connectors[i], d, &n.Memory)
		c.Protocol = d.Protocol()
		all = append(all, c)
	}
	tb.SetConnectors(all)
	tb.Apply(cfg, nil)
	return &Ground{n, k, tb}
}

// An Engine is what dispatches the lanes where no commit is waited for.
type Engine func(l *connector.Lane, f func(now int64)) bool

// Do implements keep.Engine.
func (e Engine) Do(l *connector.Lane, f func(now int64)) bool { return e(l, f) }

// Committed implements keep.Engine.
func (Engine) Committed(store.Position, error) {}

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

// PartReceipt returns a receipt of an SMSC, and what is known of the part of message 5000 that it is about. Parts
// count from 0.
func PartReceipt(n *node.Node, part, parts uint8, state sms.State, err string) (*sms.Message, store.Mapping) {
	m := n.Messages.Get()
	m.Origin = n.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")},
		&sms.Report{
			ID: []byte{'a' + part}, State: state, Err: []byte(err), Submitted: 1000 + int64(part), Done: 2000 + int64(part),
			Text: []byte{'x', part},
		})
	return m, store.Mapping{ID: 5000 + uint64(part), Offset: uint16(part), Part: part, Parts: parts,
		Notify: sms.NotifySuccess | sms.NotifyFailure, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
}

// Occupy takes n places of a share and no memory, or, if n is negative, gives them back.
func Occupy(s *connector.Share, n int64) {
	var m sms.Message
	s.Use(-n * m.Size())
	for ; n > 0; n-- {
		s.Enter(&m, 0)
	}
	for ; n < 0; n++ {
		s.Leave(&m)
	}
}

// Made returns the messages of the gateway that were not given to their lanes yet.
func Made(k *keep.Keeper) []keep.Own {
	all, _ := k.Outgoing.Waiting()
	return all
}

// Client returns an account of the ground's configuration whose password is "secret", logged in on "clients".
func (g *Ground) Client(t testing.TB, name string) *account.Account {
	t.Helper()
	accounts := account.NewTable(g.Node.Config(), account.NewRegistry())
	l := account.Login{SystemID: []byte(name), Password: []byte("secret"), Connector: "clients", Bind: protocols.Transceiver}
	client, result := accounts.LogIn(1, l, accounts.Verify(l))
	if client == nil {
		t.Fatal(result)
	}
	return client
}
