// Package apitest is the common part of the tests of httpapi's packages.
//
// # Start reading
//
// gateway.go (NewGateway).
package apitest

import (
	"io"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/protocols/httpsms"
)

// NewGateway returns a gateway with account client, whose password is secret, and connector api, whose log a test reads.
func NewGateway(t *testing.T, log io.Writer) *gateway.Gateway {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, callbacks: public}]
connectors: [{name: api, direction: in, protocol: http, dialects: [pmg, kannel], address: "127.0.0.1:0"}]
routes: []
`), config.Options{Protocols: []string{"http"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(
		cfg, zerolog.New(log), func(string, *config.Config) (protocols.Driver, error) { return httpsms.New(), nil },
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}
