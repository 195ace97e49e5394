package server

import (
	"context"
	"net/netip"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
)

// Rooms are the parts of a gateway that a listener and its requests use.
type Rooms struct {
	Node      *node.Node
	Admission Admission
	Logins    Logins
	Tracer    Tracer
}

// Admission decides which connections are open.
type Admission interface {
	Admit(c *connector.Connector, remote netip.AddrPort) bool
	AdmitProxy(c *connector.Connector, proxy netip.AddrPort) bool
	Place(c *connector.Connector, of any, remote netip.AddrPort, end func())
	Known(c *connector.Connector, of any, remote netip.AddrPort)
	Leave(c *connector.Connector, of any, remote netip.AddrPort)
	CloseSocket()
	NoInstance(c *connector.Connector)
	NoHeader(c *connector.Connector, proxy netip.AddrPort, why error)
}

// Logins decides about the credentials of a request.
type Logins interface {
	Accounts() *account.Table
	Ask(
		ctx context.Context, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity,
		who protocols.Credentials,
	) login.Result
	AskKey(
		c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string,
	) (login.Result, *config.Key)
	AskUser(
		ctx context.Context, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity,
		account, user, password string,
	) login.Result
	AskCode(
		ctx context.Context, c *connector.Connector, remote netip.AddrPort, account, user string, isRight func() bool,
	) bool
	AskReset(ctx context.Context, c *connector.Connector, remote netip.AddrPort, account, user string, do func())
	AskOIDC(
		ctx context.Context, c *connector.Connector, remote netip.AddrPort, account string, isRight func() bool,
	) bool
	StillAccount(
		c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, name string,
	) *account.Account
	Allows(ctx context.Context, c *connector.Connector, remote netip.AddrPort, account string) bool
}

// A Tracer reads the trace headers of a request.
type Tracer interface {
	Parent(headers []string) string
}
