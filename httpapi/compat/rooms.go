package compat

import (
	"context"
	"net/netip"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/request"
)

// Rooms are the parts of a gateway that the interfaces of other gateways use.
type Rooms struct {
	Node      *node.Node
	Logins    Logins
	Submitter Submitter
	Lanes     Lanes
	Store     Store
	Backlog   Backlog
}

// Logins checks the password of Kannel's status.
type Logins interface {
	AskSecret(ctx context.Context, c *connector.Connector, remote netip.AddrPort, shown, secret string) bool
}

// A Submitter submits the messages of requests.
type Submitter interface {
	Submit(ctx context.Context, from *connector.Source, items []request.Item) []request.Result
	Preview(ctx context.Context, from *connector.Source, item request.Item) (r request.Result, to string)
}

// Lanes has the lanes and connectors that Kannel's status shows.
type Lanes interface {
	Lanes() []*connector.Lane
	Connectors() []*connector.Connector
}

// A Store may keep accepted messages on disk.
type Store interface {
	Durable() bool
}

// A Backlog counts the accepted messages that have no final outcome yet.
type Backlog interface {
	Pending() int64
}
