package webhook

import (
	"context"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/mail"
	"pmg/gateway/node"
	"pmg/gateway/request"
	"pmg/gateway/settle"
	"pmg/gateway/webhooks"
	"pmg/sms"
)

// Rooms are the parts of a gateway that webhooks use.
type Rooms struct {
	Node      *node.Node
	Options   Options
	Logins    Logins
	Converter Converter
	Tracer    Tracer
	Submitter Submitter
	Servers   Servers
	Inbox     Inbox
	Low       <-chan settle.Low // balances that have become low
	Mail      *mail.Sender      // nil: no mail is sent
	Holds     func() bool       // whether anything may be sent; nil: always
}

// Options finds the accounts and connectors of the configuration in force; nil if the name is unknown.
type Options interface {
	Account(name string) *config.Account
	Connector(name string) *connector.Connector
}

// Logins has the accounts that may log in.
type Logins interface {
	Accounts() *account.Table
}

// A Converter converts a message to the form that a client gets.
type Converter interface {
	Leaving(to *connector.Source, m *sms.Message) *sms.Message
}

// A Tracer traces the calls of a message.
type Tracer interface {
	Traceparent(m *sms.Message) string
	Told(m *sms.Message, took time.Duration, status int, failed string)
}

// A Submitter submits the replies that webhooks answer with.
type Submitter interface {
	Submit(ctx context.Context, from *connector.Source, items []request.Item) []request.Result
}

// Servers returns the state of the server of a lane.
type Servers interface {
	Server(l *connector.Lane) *webhooks.Server
}

// An Inbox takes the messages of accounts that get them by their inbox alone.
type Inbox interface {
	// Take adds a message, unless it was added before. It reports false if the lane's account has no inbox any more.
	Take(m *sms.Message, l *connector.Lane) bool
}
