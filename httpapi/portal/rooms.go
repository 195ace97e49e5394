package portal

import (
	"context"
	"time"

	"pmg/config"
	"pmg/config/managed/editor"
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/gateway/inbox"
	"pmg/gateway/mail"
	"pmg/gateway/node"
	"pmg/gateway/operate"
	"pmg/gateway/request"
	"pmg/gateway/webhooks"
	"pmg/httpapi/server"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
	"pmg/sms/numbers"
	"pmg/sms/prices"
)

// Rooms are the parts of a gateway that the pages use.
type Rooms struct {
	Node     *node.Node
	Table    Table
	Money    Money
	Webhooks Webhooks
	Dead     Dead
	Queue    Queue
	Messages Messages
	Inbox    Inbox
	Lists    Lists
	Networks Networks
	Go       func(do func(context.Context)) // runs what outlasts its request, until the gateway stops
	Edit     Edit                           // nil: keys cannot be changed
	Audit    Audit                          // nil: nothing is recorded
	Mail     *mail.Sender                   // nil: no mail is sent
}

// A Table finds the connectors, and the lanes.
type Table interface {
	Connectors() []*connector.Connector
	Lanes() []*connector.Lane
}

// Money gives access to the payments of accounts.
type Money interface {
	CurrencyOf(c *sms.Credit) string
	Prices(c *sms.Credit) *prices.List
	History(account string, since time.Time) ([]credit.Payment, error)
}

// Webhooks gives access to the servers of clients.
type Webhooks interface {
	Rows(account string) []webhooks.Row
	Attempts(f webhooks.Filter) []webhooks.Attempt
	Test(ctx context.Context, account string, fallback bool) (webhooks.Attempt, error)
	Enable(account, operator string) []string
	Retry(account, operator string) []string
}

// Dead finds the events that the servers of clients did not take in time.
type Dead interface {
	Of(account string, limit int) []uint64
}

// Queue changes messages in the store.
type Queue interface {
	ChangeStored(
		ctx context.Context, c operate.QueueChange, s operate.Selection, from uint64, limit int,
	) (operate.QueuePage, error)
}

// Networks knows the names of networks.
type Networks interface{ Name(of sms.Network) string }

// Lists reads and changes registers of numbers.
type Lists interface {
	Register(name string) (*numbers.List, error)
	Change(name string, on bool, from numbers.Origin, addresses ...string) (int, error)
}

// Messages submits and finds the messages of the account of a request, as for the API.
type Messages interface {
	Find(x *server.Exchange, id string) (*own.Known, *own.Problem)
	List(x *server.Exchange, l *own.List) (page []own.Known, last uint64, p *own.Problem)
	Preview(x *server.Exchange, m *own.Message) (request.Result, string, *own.Problem)
	PreviewFrom(ctx context.Context, from *connector.Source, m *own.Message) (request.Result, string, *own.Problem)
	SubmitFrom(
		ctx context.Context, from *connector.Source, m *own.Message, key string, body []byte,
	) (request.Result, *own.Problem)
	Submit(x *server.Exchange, m *own.Message, key string, body []byte) (request.Result, *own.Problem)
}

// An Inbox has the texts that accounts have received.
type Inbox interface {
	List(account string) ([]inbox.Message, error)
	Find(account string, id uint64) (from, to string, ok bool, err error)
	Answered(account string, id, reply uint64) error
}

// An Edit changes a managed file of the gateway.
type Edit func(ctx context.Context, r editor.Request) (editor.Result, error)

// An Audit records actions of users.
type Audit interface {
	Record(who, from, act string, parameters map[string]string, result string)
}

// A scope is a set of requests that a user may make. Each scope includes those before it.
type scope int

// The scopes.
const (
	look   scope = iota // to read the account's data
	send                // to submit messages
	manage              // to make and revoke keys
)

// scopes are the scopes by their names in the configuration.
var scopes = map[string]scope{config.LookScope: look, config.SendScope: send, config.ManageScope: manage}
