package convert

import (
	"fmt"
	"testing"

	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
	"pmg/sms"
)

// A rig is a Converter for clients of SMPP and an SMSC, with the drivers of their protocols.
type rig struct {
	*Converter
	*roomtest.Ground
	operator *connector.Connector
	lane     *connector.Lane
}

// newRig makes a rig whose account and SMSC have options.
func newRig(t *testing.T, account, operator string) *rig {
	t.Helper()
	g := roomtest.With(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, %s}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
  - {name: beside, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, protocol: ucp}
routes: [{to: operator}]
`, account, operator), func(protocol string) protocols.Driver {
		if protocol == "ucp" {
			return ucp.New(ucp.Options{})
		}
		return smpp.New(smpp.Options{})
	})
	r := &rig{Converter: New(g.Node, g.Table), Ground: g, operator: g.Table.Connector("operator")}
	r.lane = g.Table.LaneOf(r.operator)
	return r
}

// message makes a message of the client.
func (r *rig) message(kind sms.Kind, alphabet sms.Alphabet, text string) *sms.Message {
	m := r.Node.Messages.Get()
	m.ID, m.Kind, m.Alphabet = 7, kind, alphabet
	m.Origin = r.Node.Origins.Of("client", "clients")
	if kind == sms.MO {
		m.Origin = r.Node.Origins.Of("", "operator")
	}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, []byte(text))
	return m
}
