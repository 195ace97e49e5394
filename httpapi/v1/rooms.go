package v1

import (
	"context"
	"crypto/sha256"
	"net/netip"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/node"
	"pmg/gateway/operate"
	"pmg/gateway/request"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/sms"
)

// Rooms are the parts of a gateway that our own API uses.
type Rooms struct {
	Node       *node.Node
	Routes     Routes
	Logins     Logins
	Submitter  Submitter
	Operations Operations
}

// Routes finds the options of an account, and the lane of the events that it fetches; nil if there is none.
type Routes interface {
	Account(name string) *config.Account
	ClientLane(account string, context []byte) *connector.Lane
}

// Logins checks whether the login of a long request is still valid.
type Logins interface {
	Still(c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, who protocols.Credentials) bool
	StillKey(c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string) *config.Key
}

// A Submitter submits the messages of requests.
type Submitter interface {
	Submit(ctx context.Context, from *connector.Source, items []request.Item) []request.Result
	SubmitAll(ctx context.Context, from *connector.Source, w request.Work)
	SubmitOnce(
		ctx context.Context, from *connector.Source, key string, payload [sha256.Size]byte, w request.Work,
	) (repeated bool, err error)
	Preview(ctx context.Context, from *connector.Source, item request.Item) (r request.Result, to string)
}

// Operations finds, changes and cancels messages.
type Operations interface {
	MayBegin(client *account.Account) bool
	Begin(client *account.Account, spoken sms.Protocol, asked protocols.Operation) *operate.Operation
	List(
		ctx context.Context, client *account.Account, below uint64, since int64, f func(*operate.Known) bool,
	) (last uint64, err error)
}
